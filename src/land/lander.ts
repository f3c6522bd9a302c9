import path from 'node:path';
import type { PullRequests } from '../connect/index.ts';
import { createGit, treeOf, type Repository } from '../workspace/index.ts';
import { sameTree } from './combine.ts';
import { fateOf } from './fate.ts';
import { landBranch } from './land-branch.ts';
import { landMerge } from './land-merge.ts';
import { landPullRequest } from './land-pull-request.ts';
import { makeLandingCommit } from './landing-commit.ts';
import { landingMessage } from './landing-message.ts';
import { keptRef, readLanding, recordLanding, type Landing } from './landing-record.ts';
import { writePatch } from './patch-file.ts';
import type { Landed, Lander, LandRequest } from './port.ts';

// Invariants:
// 1. A run lands once: what is recorded is returned, never made again (L5).
// 2. What lands has the tree of the candidate, or a combined tree that was judged (L4); an empty change never lands.
// 3. No checkout is written and no branch that somebody has checked out moves (L6).

const defaultSignLimitMs = 20_000;

/** @param options.signLimitMs longest wait for a signature, which may be waiting for a passphrase nobody can type */
export const createLander = (options: {
  readonly repository: Repository;
  readonly stateHome: string;
  readonly signLimitMs?: number;
  /** Pull requests of the repository. @throws Fault `FORGE_NOT_SET_UP` where it is not known where they are */
  readonly pullRequests: () => Promise<PullRequests>;
  /** Waits between two tries to open one. */
  readonly pause: (ms: number) => Promise<void>;
}): Lander => {
  const git = createGit(options.repository.root);
  const signLimitMs = options.signLimitMs ?? defaultSignLimitMs;

  const deliver = async (request: LandRequest, ref: string): Promise<Landing | { readonly why: string }> => {
    if (request.as === 'merge') return landMerge(git, request, { ref, signLimitMs });
    if (request.as === 'report') {
      const landing: Landing = { landed: 'report', commit: request.candidate };
      await recordLanding(git, { run: request.run, landing, env: {} });
      return landing;
    }
    if (request.as === 'pull-request') {
      const { pause } = options;
      return landPullRequest(git, request, { pullRequests: await options.pullRequests(), signLimitMs, pause, kept: ref });
    }
    const tree = await treeOf(git, request.candidate);
    const made = await makeLandingCommit(git, { ...request, tree, parent: request.base, message: landingMessage(request), signLimitMs });
    if (!made.made) return made;
    if (request.as === 'branch') return landBranch(git, request, made);
    const file = path.join(options.stateHome, 'patches', `${request.run}.patch`);
    await writePatch(git, made.commit, file);
    const landing: Landing = { landed: 'patch', file, commit: made.commit };
    await recordLanding(git, { run: request.run, landing, env: made.env });
    return landing;
  };

  const land = async (request: LandRequest): Promise<Landed> => {
    const earlier = await readLanding(git, request.run);
    if (earlier !== undefined) return earlier;
    const ref = await keptRef(git, request.run, request.candidate);
    if (await sameTree(git, request.base, request.candidate))
      return { landed: 'no', why: 'The change is empty: the candidate has the same files as its base.', ref };
    const result = await deliver(request, ref);
    return 'landed' in result ? result : { landed: 'no', why: result.why, ref };
  };

  return {
    land,
    find: async (request) => {
      const landing = await readLanding(git, request.run);
      if (landing === undefined || landing.landed !== request.as) return undefined;
      return landing.landed === 'merge' && request.target !== undefined && landing.target !== request.target ? undefined : landing;
    },
    fate: (landed, on) => fateOf(git, landed, { ...on, pullRequests: options.pullRequests }),
  };
};
