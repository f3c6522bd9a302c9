import path from 'node:path';
import { commitSha, epochMs, type CommitSha } from '../../src/core/ids.ts';
import { createWorkspaces, findRepository, stateHomeOf, type Repository, type WorkspaceManager } from '../../src/workspace/index.ts';
import { remove, snapshotCheckout, type TestRepository } from '../testkit/repositories.ts';

/** A repository with its workspaces, and the checkout as it was; removes everything and fails if the checkout is not as it was (L6). */
export interface Setting extends AsyncDisposable {
  readonly seed: TestRepository;
  readonly repository: Repository;
  readonly workspaces: WorkspaceManager;
  readonly stateHome: string;
  readonly base: CommitSha;
  /** What the checkout looks like now is what it must look like at the end. */
  checkpoint(): void;
}

export const setUp = async (seed: TestRepository, at: { readonly cwd?: string; readonly base?: string } = {}): Promise<Setting> => {
  const repository = await findRepository(at.cwd ?? seed.dir);
  const stateHome = stateHomeOf({ commonDir: repository.commonDir, stateRoot: seed.stateRoot });
  let before = snapshotCheckout(at.cwd ?? seed.dir);
  return {
    seed,
    repository,
    stateHome,
    base: commitSha(at.base ?? seed.base),
    workspaces: createWorkspaces({ repository, stateHome, clock: () => epochMs(Date.now()) }),
    checkpoint: () => {
      before = snapshotCheckout(at.cwd ?? seed.dir);
    },
    [Symbol.asyncDispose]: async () => {
      const after = snapshotCheckout(at.cwd ?? seed.dir);
      remove(seed.home);
      const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]);
      if (changed.length > 0) throw new Error(`L6: the checkout changed: ${changed.map((name) => path.posix.normalize(name)).join(', ')}`);
    },
  };
};
