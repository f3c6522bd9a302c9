import { Fault } from '../core/fault.ts';
import { commitSha, type CommitSha } from '../core/ids.ts';
import { identityOf, type Git } from '../workspace/index.ts';

export type LandingCommit =
  | { readonly made: true; readonly commit: CommitSha; readonly env: Readonly<Record<string, string>> }
  | { readonly made: false; readonly why: string };

/** Whether the user wants commits signed. */
const signs = async (git: Git): Promise<boolean> => {
  const { code, bytes } = await git.run(['config', '--type=bool', '--get', 'commit.gpgsign'], { allow: [1, 128] });
  return code === 0 && bytes.toString('utf8').trim() === 'true';
};

/**
 * One commit with exactly this tree on this parent. Its time is that of the candidate, so that a landing made again after a crash
 * gives the same commit. A signature that does not come within its limit is an outcome: nothing was written then.
 */
export const makeLandingCommit = async (
  git: Git,
  wanted: {
    readonly tree: string;
    readonly parent: CommitSha;
    readonly candidate: CommitSha;
    readonly message: string;
    readonly sign: 'auto' | 'never';
    readonly signLimitMs: number;
  },
): Promise<LandingCommit> => {
  const env = await identityOf(git, Number(await git.line(['show', '-s', '--format=%ct', wanted.candidate])));
  const sign = wanted.sign === 'auto' && (await signs(git));
  const args = ['commit-tree', sign ? '-S' : '--no-gpg-sign', '-p', wanted.parent, '-F', '-', wanted.tree];
  try {
    const commit = await git.line(args, { env, input: wanted.message, ...(sign ? { limitMs: wanted.signLimitMs } : {}) });
    return { made: true, commit: commitSha(commit), env };
  } catch (fault) {
    if (!sign || !(fault instanceof Fault)) throw fault;
    const how =
      fault.code === 'GIT_TIMED_OUT'
        ? `did not end within ${wanted.signLimitMs / 1000} s`
        : `failed: ${String(fault.data['stderr']).trim().split('\n')[0] ?? ''}`;
    return { made: false, why: `The commit was not made because signing it ${how}. Unlock the key, or set \`sign: never\` for this loop.` };
  }
};
