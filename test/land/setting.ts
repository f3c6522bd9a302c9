import { commitSha, evidenceHash, runId, type CommitSha } from '../../src/core/ids.ts';
import type { PullRequests } from '../../src/connect/index.ts';
import { createLander, type Lander, type LandRequest } from '../../src/land/index.ts';
import { setUp, type Setting } from '../workspace/setting.ts';
import { makeRepository, rightSum, write, type Shape, type TestRepository } from '../testkit/repositories.ts';

export const evidence = evidenceHash('e'.repeat(64));
export const combinedEvidence = evidenceHash('c'.repeat(64));

export interface LandSetting {
  readonly setting: Setting;
  readonly lander: Lander;
  /** A candidate with these files on top of base. */
  readonly candidate: (run: string, files?: Readonly<Record<string, string | Uint8Array>>) => Promise<CommitSha>;
  readonly request: (run: string, commit: CommitSha, more?: Partial<LandRequest>) => LandRequest;
}

const noPullRequests = (): Promise<PullRequests> => Promise.reject(new Error('No pull request was expected.'));

export const setUpLanding = async (
  shape: Shape | TestRepository = {},
  signLimitMs = 20_000,
  pullRequests = noPullRequests,
): Promise<LandSetting> => {
  const setting = await setUp('dir' in shape ? shape : makeRepository(shape));
  const { workspaces, base, repository, stateHome } = setting;
  return {
    setting,
    lander: createLander({ repository, stateHome, signLimitMs, pullRequests, pause: () => Promise.resolve() }),
    candidate: async (run, files = { 'src/sum.mjs': rightSum }) => {
      const { dir } = await workspaces.open(run, base);
      write(dir, files);
      return (await workspaces.commit(run, 1, base, `Attempt 1 of ${run}`)).commit;
    },
    request: (run, commit, more = {}) => ({
      as: 'branch',
      run: runId(run),
      loop: 'fix-tests',
      taskTitle: 'The sum adds',
      taskKey: 'test:adds',
      base,
      candidate: commitSha(commit),
      target: undefined,
      evidence,
      sign: 'auto',
      verifyCombined: () => Promise.reject(new Error('nothing to combine here')),
      ...more,
    }),
  };
};
