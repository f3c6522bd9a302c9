import type { PullRequest, PullRequests } from '../connect/index.ts';
import { Fault } from '../core/fault.ts';
import { treeOf, type Git } from '../workspace/index.ts';
import { branchName } from './branch-name.ts';
import { makeLandingCommit } from './landing-commit.ts';
import { landingMessage } from './landing-message.ts';
import { recordLanding, type Landing } from './landing-record.ts';
import { readOffer, writeOffer, type Offer } from './offer.ts';
import { pushBranch, takenOnOrigin, whyNotOnOrigin } from './origin.ts';
import { pullRequestText, runLine } from './pull-request-text.ts';
import type { LandRequest } from './port.ts';

// Invariants:
// 1. Branch and commit are written down before anything leaves this machine, so a crash at any point goes on with the same ones.
// 2. A branch of origin is made, or found at the very same commit; none is ever moved.
// 3. No pull request is opened without having looked for one before, also after an unclear answer.

const namesMax = 5;
const triesMax = 3;
const firstPauseMs = 500;

interface Means {
  readonly pullRequests: PullRequests;
  readonly signLimitMs: number;
  readonly pause: (ms: number) => Promise<void>;
  /** Where the work is kept, for messages. */
  readonly kept: string;
}

type Refused = { readonly why: string };

/** The branch that is checked out; `undefined` for a detached HEAD. */
const currentBranch = async (git: Git): Promise<string | undefined> => {
  const { code, bytes } = await git.run(['symbolic-ref', '-q', '--short', 'HEAD'], { allow: [1, 128] });
  return code === 0 ? bytes.toString('utf8').trim() : undefined;
};

const makeOffer = async (git: Git, request: LandRequest, { pullRequests, signLimitMs }: Means): Promise<Offer | Refused> => {
  const target = request.target ?? (await currentBranch(git)) ?? (await pullRequests.defaultBranch());
  const why = await whyNotOnOrigin(git, request.base, target);
  if (why !== undefined) return { why };
  const tree = await treeOf(git, request.candidate);
  const made = await makeLandingCommit(git, { ...request, tree, parent: request.base, message: landingMessage(request), signLimitMs });
  if (!made.made) return made;
  const branch = branchName({ loop: request.loop, title: request.taskTitle, taken: await takenOnOrigin(git) });
  const offer: Offer = { commit: made.commit, candidate: request.candidate, branch, target };
  await writeOffer(git, request.run, offer);
  return offer;
};

/** The pull request that this run opened, or that somebody opened for the very commit it pushed. */
const findOwn = async (pullRequests: PullRequests, offer: Offer, run: string): Promise<PullRequest | undefined> =>
  (await pullRequests.ofBranch(offer.branch)).find((pull) => pull.head === offer.commit || pull.body.split(/\r?\n/).includes(runLine(run)));

/** Faults after which it is worth to look and ask once more; what was refused stays refused. */
const mayPass = (error: unknown): boolean =>
  error instanceof Fault && (error.code === 'FORGE_UNREACHABLE' || error.code === 'FORGE_FAILED');

const openOnce = async (request: LandRequest, offer: Offer, { pullRequests, pause }: Means): Promise<PullRequest | Refused> => {
  const { branch, target } = offer;
  for (let tries = 1; ; tries += 1) {
    try {
      const found = await findOwn(pullRequests, offer, request.run);
      return found ?? (await pullRequests.open({ branch, target, ...pullRequestText(request, pullRequests.repository) }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (mayPass(error) && tries < triesMax) {
        await pause(firstPauseMs * 3 ** (tries - 1));
        continue;
      }
      // One that a lost answer hides, or that somebody else opened for this branch meanwhile.
      const found = await findOwn(pullRequests, offer, request.run).catch(() => undefined);
      if (found !== undefined) return found;
      return { why: `The pull request was not opened. ${error.message} The change is on branch ${branch} of origin.` };
    }
  }
};

/** Puts a landing commit on a new branch of origin and opens one pull request for it. */
export const landPullRequest = async (git: Git, request: LandRequest, means: Means): Promise<Landing | Refused> => {
  for (let names = 1; ; names += 1) {
    const offer =
      (names === 1 ? await readOffer(git, request.run, request.candidate) : undefined) ?? (await makeOffer(git, request, means));
    if ('why' in offer) return offer;
    const pushed = await pushBranch(git, offer.commit, offer.branch);
    const own = pushed.pushed
      ? await openOnce(request, offer, means)
      : await findOwn(means.pullRequests, offer, request.run).catch(() => undefined);
    if (own !== undefined && 'why' in own) return own;
    if (own !== undefined) {
      const landing: Landing = { landed: 'pull-request', number: own.number, url: own.url, branch: offer.branch, commit: offer.commit };
      await recordLanding(git, { run: request.run, landing, env: {} });
      return landing;
    }
    // Another run took the name between the look and the push: the next offer has another one.
    if (!pushed.pushed && (!pushed.taken || names >= namesMax))
      return { why: `Origin did not take the branch ${offer.branch}. ${pushed.why}` };
  }
};
