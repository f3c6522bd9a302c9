import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Git } from './git.ts';
import { listRefs } from './refs.ts';
import { readLine, type LinkedWorktree } from './worktree-link.ts';

// What an agent did with git besides changing files. It may commit, switch, make branches, stop in the middle of a rebase.

const operations: readonly (readonly [file: string, name: string])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick'],
  ['BISECT_LOG', 'bisect'],
];

/** The operation left half done in a worktree; empty if none. The file names are those of gitrepository-layout and git's own status. */
export const unfinishedIn = async (admin: string): Promise<string> => {
  for (const [file, name] of operations) {
    try {
      await access(path.join(admin, file));
      return name;
    } catch {
      // Not this one.
    }
  }
  return '';
};

const movesRead = 500;

/** Every commit HEAD of the worktree has named, from its reflog, latest last. */
const headMoves = async (admin: string): Promise<Set<string>> => {
  const log = await readFile(path.join(admin, 'logs', 'HEAD'), 'utf8').catch(() => '');
  const names = log
    .split('\n')
    .slice(-movesRead)
    .map((line) => line.split(' ')[1] ?? '');
  return new Set(names.filter((name) => /^[0-9a-f]{40,64}$/.test(name)));
};

export interface Traces {
  /** HEAD of the worktree; base when it has no commit. */
  readonly head: string;
  /** Commits between base and HEAD. */
  readonly agentCommits: number;
  /** Tips of commits made here that neither HEAD nor any branch or tag contains. */
  readonly left: readonly string[];
  /** Refs of the user that were moved to commits made here, one sentence each. */
  readonly movedRefs: readonly string[];
  readonly notes: readonly string[];
}

const tipsKept = 16;

/** Branches, tags, the stash, and what is known of remotes (a push moves that): what an agent could move although it is the user's. */
export const userRefs = (git: Git): Promise<ReadonlyMap<string, string>> =>
  listRefs(git, 'refs/heads', 'refs/tags', 'refs/stash', 'refs/remotes');

const shortName = (ref: string): string => ref.replace(/^refs\/(?:heads|tags|remotes)\//, '');

const contains = async (git: Git, commit: string, inside: string): Promise<boolean> =>
  (await git.run(['merge-base', '--is-ancestor', commit, inside], { allow: [1, 128] })).code === 0;

const noteOnNewRef = async (git: Git, made: { readonly ref: string; readonly is: string; readonly head: string }): Promise<string> => {
  const what = `The agent made ${shortName(made.ref)} at ${made.is}`;
  return (await contains(git, made.is, made.head)) ? `${what}.` : `${what}; its commits are not part of the candidate.`;
};

const movedRef = (ref: string, was: string, is: string): string =>
  ref.startsWith('refs/remotes/')
    ? `The agent pushed to ${shortName(ref)}, which was at ${was} and is now at ${is}.`
    : `The agent moved ${shortName(ref)} from ${was} to ${is}. To put it back: git update-ref ${ref} ${was}`;

/** What became of the user's refs: moved by the agent (to a commit made in this workspace), made by it, or gone. Other moves are the user's. */
const changesOfRefs = async (
  git: Git,
  seen: { readonly before: ReadonlyMap<string, string>; readonly moves: ReadonlySet<string>; readonly head: string },
): Promise<{ readonly movedRefs: string[]; readonly notes: string[] }> => {
  const { before, moves, head } = seen;
  const now = await userRefs(git);
  const movedRefs: string[] = [];
  const notes: string[] = [];
  for (const [ref, is] of now) {
    const was = before.get(ref);
    if (was === is || ref.endsWith('/HEAD')) continue;
    if (ref === 'refs/stash') notes.push('The stash, which all worktrees share, was changed during the run.');
    else if (moves.has(is)) {
      if (was === undefined) notes.push(await noteOnNewRef(git, { ref, is, head }));
      else movedRefs.push(movedRef(ref, was, is));
    }
  }
  for (const [ref, was] of before) if (!now.has(ref)) notes.push(`${shortName(ref)} (it was at ${was}) was deleted during the run.`);
  return { movedRefs, notes };
};

/** Where HEAD stands, and on which branch (full name). A HEAD that still names base needs no question to git. */
const headOf = async (
  { git, admin }: LinkedWorktree,
  base: string,
): Promise<{ readonly head: string; readonly branch: string | undefined }> => {
  if ((await readLine(path.join(admin, 'HEAD'))) === base) return { head: base, branch: undefined };
  const found = await git.run(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], { allow: [1, 128] });
  const branch = await git.run(['symbolic-ref', '-q', 'HEAD'], { allow: [1, 128] });
  return {
    head: found.code === 0 ? found.bytes.toString('utf8').trim() : base,
    branch: branch.code === 0 ? branch.bytes.toString('utf8').trim() : undefined,
  };
};

/** @param before refs of the user when the workspace was opened; undefined when that is not known */
export const tracesOf = async (
  worktree: LinkedWorktree,
  base: string,
  before: ReadonlyMap<string, string> | undefined,
): Promise<Traces> => {
  const { git, admin } = worktree;
  const { head, branch } = await headOf(worktree, base);
  const agentCommits = head === base ? 0 : Number(await git.line(['rev-list', '--count', head, `^${base}`, '--']));
  const moves = await headMoves(admin);
  moves.delete(base);

  const notes: string[] = [];
  if (branch !== undefined) notes.push(`The agent switched to branch ${shortName(branch)}.`);
  if (head !== base && !(await contains(git, base, head))) notes.push(`HEAD of the workspace (${head}) does not contain the base ${base}.`);
  const refs = before === undefined ? { movedRefs: [], notes: [] } : await changesOfRefs(git, { before, moves, head });
  notes.push(...refs.notes);

  const there: string[] = [];
  for (const commit of moves) {
    if ((await git.run(['cat-file', '-e', `${commit}^{commit}`], { allow: [1, 128] })).code === 0) there.push(commit);
  }
  const outside =
    there.length === 0
      ? []
      : await git.line(['rev-list', '--no-walk', ...there, '--not', head, base, '--branches', '--tags', '--remotes', '--']);
  const loose = typeof outside === 'string' ? outside.split('\n').filter((name) => name !== '') : [];
  const left = loose.length < 2 ? loose : (await git.line(['merge-base', '--independent', ...loose])).split('\n').slice(0, tipsKept);
  for (const tip of left) notes.push(`Commit ${tip} was made in the workspace and left behind; it is not part of the candidate.`);
  return { head, agentCommits, left, movedRefs: refs.movedRefs, notes };
};
