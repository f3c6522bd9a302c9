import { Fault } from '../core/fault.ts';
import { oneLine } from '../core/text.ts';
import { listRefs, listWorktrees, readRef, type Git } from '../workspace/index.ts';
import { isAncestor } from './combine.ts';

/** For one talk with the remote. */
const remoteLimitMs = 120_000;
const outputBytes = 16 * 1024 * 1024;

/** Branches of origin by short name, those that a pattern of git-ls-remote names. */
const remoteBranches = async (git: Git, ...patterns: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const out = await git.line(['ls-remote', '--refs', '--', 'origin', ...patterns], { limitMs: remoteLimitMs, outputBytes });
  const pairs = out.split('\n').filter((line) => line !== '');
  return new Map(pairs.map((line) => [(line.split('\t')[1] ?? '').replace(/^refs\/heads\//, ''), line.split('\t')[0] ?? '']));
};

/** Names a new branch of origin may not have: what is there, and what is here, so that fetching it later meets nothing. */
export const takenOnOrigin = async (git: Git): Promise<readonly string[]> => {
  const here = [...(await listRefs(git, 'refs/heads', 'refs/remotes')).keys()];
  const checkedOut = (await listWorktrees(git)).flatMap((tree) => tree.branch ?? []);
  const local = [...here, ...checkedOut].map((ref) => ref.replace(/^refs\/heads\//, '').replace(/^refs\/remotes\/[^/]+\//, ''));
  return [...local, ...(await remoteBranches(git, 'refs/heads/gyre*')).keys()];
};

/** What git and the remote said, without git's advice. */
const saidBy = (fault: Fault): string => {
  const { stderr } = fault.data;
  const lines = typeof stderr === 'string' ? stderr.split('\n') : [];
  return oneLine(lines.filter((line) => !line.startsWith('hint:')).join(' '), 300) || fault.message;
};

/**
 * Why a change that starts from `base` cannot be offered to a branch of origin; `undefined` when it can. Commits of the user that origin
 * does not have would be pushed along with it.
 */
export const whyNotOnOrigin = async (git: Git, base: string, target: string): Promise<string | undefined> => {
  let tip: string | undefined;
  try {
    tip = (await remoteBranches(git, `refs/heads/${target}`)).get(target);
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return `Origin could not be read. ${saidBy(fault)}`;
  }
  if (tip === undefined) return `There is no branch ${target} on origin to open a pull request for. Push it, or name another target.`;
  // The tip may not have been fetched; what was seen of the branch before is part of it.
  const seen = await readRef(git, `refs/remotes/origin/${target}`);
  for (const known of [tip, seen]) if (known !== undefined && (await isAncestor(git, base, known))) return undefined;
  return `The commit ${base.slice(0, 12)} that the run started from is not known to be part of ${target} on origin. Push or fetch that branch first, so that a pull request holds this change alone.`;
};

export type Pushed = { readonly pushed: true } | { readonly pushed: false; readonly taken: boolean; readonly why: string };

/**
 * Makes a branch on origin, or finds it there at this very commit. Never moves one: the lease says that it must not exist. Settings of the
 * user that would push more than this, or into another branch, have no say.
 */
export const pushBranch = async (git: Git, commit: string, branch: string): Promise<Pushed> => {
  const ref = `refs/heads/${branch}`;
  const args = ['push', '--porcelain', '--no-follow-tags', '--no-signed', '--recurse-submodules=no', '--no-verify'];
  try {
    await git.run([...args, `--force-with-lease=${ref}:`, '--', 'origin', `${commit}:${ref}`], { limitMs: remoteLimitMs, outputBytes });
    return { pushed: true };
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    // The answer may have been lost on the way: what is there decides.
    const tip = (await remoteBranches(git, ref).catch(() => new Map<string, string>())).get(branch);
    if (tip === commit) return { pushed: true };
    return { pushed: false, taken: tip !== undefined, why: saidBy(fault) };
  }
};
