export * from './port.ts';
export { findRepository, stateHomeOf } from './repository.ts';
export { resolveBase } from './base.ts';
export { createDependencies, type Dependencies, type ProofMemory } from './dependencies.ts';
export { createDiskBudget, diskUse, totalBytes, type DiskBudget } from './disk-budget.ts';
export { copiesOnWrite } from './copy-folder.ts';
export { createPool, type WorkspacePool } from './pool.ts';
export { createWorkspaces } from './manager.ts';
export { gitSetupChanges, readGitSetup } from './git-setup.ts';
export { differences, fingerprintCheckout } from './fingerprint.ts';
export { changedPaths, pathsBetween, readFileAt, treeEntries, treeOf } from './tree-reading.ts';
// For the landing: one runner, one way to name authors and to move refs.
export { createGit, type Git } from './git.ts';
export { runThroughRunner } from './run-bounded.ts';
export { identityOf } from './identity.ts';
export { listRefs, readFacts, readRef, runRef, updateRefs, writeFacts, type RefUpdate } from './refs.ts';
export { listWorktrees } from './worktree-link.ts';
export { removeFolder } from './remove-folder.ts';
