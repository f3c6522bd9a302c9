import { Fault } from '../core/fault.ts';
import type { CommitSha } from '../core/ids.ts';
import { listRefs, listWorktrees, type Git } from '../workspace/index.ts';
import { branchName } from './branch-name.ts';
import { readLanding, recordLanding, type Landing } from './landing-record.ts';
import type { LandRequest } from './port.ts';

const triesMax = 5;

/** Names a new branch may not have: every branch here, every one known of a remote, and those checked out without a commit yet. */
const takenNames = async (git: Git): Promise<string[]> => {
  const refs = [...(await listRefs(git, 'refs/heads', 'refs/remotes')).keys()];
  const checkedOut = (await listWorktrees(git)).flatMap((tree) => tree.branch ?? []);
  return [...refs, ...checkedOut].map((ref) => ref.replace(/^refs\/heads\//, '').replace(/^refs\/remotes\/[^/]+\//, ''));
};

/** Puts a landing commit on a new branch of its own. */
export const landBranch = async (
  git: Git,
  request: LandRequest,
  made: { readonly commit: CommitSha; readonly env: Readonly<Record<string, string>> },
): Promise<Landing> => {
  for (let tries = 1; ; tries += 1) {
    const branch = branchName({ loop: request.loop, title: request.taskTitle, taken: await takenNames(git) });
    const landing: Landing = { landed: 'branch', branch, commit: made.commit };
    try {
      await recordLanding(git, {
        run: request.run,
        landing,
        env: made.env,
      });
      return landing;
    } catch (fault) {
      const earlier = await readLanding(git, request.run);
      if (earlier !== undefined) return earlier;
      // Another run took the name between the look and the making.
      if (!(fault instanceof Fault) || fault.code !== 'GIT_FAILED' || tries >= triesMax) throw fault;
    }
  }
};
