export * from './port.ts';
export { githubAddress, type AddressFacts, type AddressProblem } from './github/address.ts';
export { createGithub } from './github/create-github.ts';
export { issueClaim, issueOfTask, issueTaskKey, type IssueName } from './issue-task.ts';
export { noteMark, noteText } from './status-note.ts';
