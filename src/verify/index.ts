export * from './port.ts';
export { checkEnvironment } from './check-environment.ts';
export { createCheckRunner, type CheckRunnerParts } from './check-runner.ts';
export { createEvidenceStore } from './evidence-store.ts';
export { createVerifier, type VerifierParts } from './verifier.ts';
export { readTestReport } from './reports/index.ts';
