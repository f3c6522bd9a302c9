import { issueClaim, issueTaskKey, type Issue, type IssueList } from '../connect/index.ts';
import { cutMiddle, oneLine, plainText } from '../core/text.ts';
import type { Task } from '../core/task.ts';
import { found, taskBodyLetters, type Found } from './found.ts';
import type { StillOpen } from './port.ts';

/**
 * Open issues as tasks, the oldest first: it has priority 0, the next -1 ... Pure. Whoever can open an issue wrote it, so its text is
 * `outside` (L12), and nothing of it says when it is done: the loop's checks do.
 */
export const issueTasks = (input: { readonly repository: string; readonly source: string; readonly list: IssueList }): Found => {
  const { repository, source, list } = input;
  const tasks = list.issues.map((issue, index): Task => {
    const name = { repository, number: issue.number };
    return {
      key: issueTaskKey(name),
      claim: issueClaim(name),
      title: oneLine(`#${issue.number} ${issue.title}`),
      body: cutMiddle(plainText(`${issue.title}\n\n${issue.body}`).trim(), taskBodyLetters),
      evidence: '',
      priority: 0 - index,
      touches: [],
      trust: 'outside',
      source,
      proof: { by: 'checks' },
    };
  });
  return found({ tasks, problems: list.problems.map((problem) => `${source}: ${problem}`) });
};

/** Whether an issue as it is now is still to be worked on. Pure. */
export const issueFate = (issue: Issue | undefined): StillOpen => {
  if (issue === undefined) return { open: false, why: 'deleted or moved elsewhere' };
  return issue.state === 'open' ? { open: true } : { open: false, why: 'closed elsewhere' };
};
