import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, lstat, mkdir, readFile, readlink, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { assert } from '../core/fault.ts';
import type { Git } from './git.ts';
import { leaveOut, type NewFile, type Reason } from './leave-out.ts';
import { gitlinks, holdsWork, submoduleStates, type SubmoduleState } from './submodules.ts';
import { treeEntries } from './tree-reading.ts';
import type { LinkedWorktree } from './worktree-link.ts';

// The tree of what stands in a workspace, made beside it: a private index, so that neither the agent's index nor its HEAD changes,
// and the same question can be asked at any time.

export interface Snapshot {
  readonly tree: string;
  readonly leftOut: readonly Reason[];
  readonly submodules: readonly SubmoduleState[];
  readonly notes: readonly string[];
}

/** Mode of a submodule in a tree or index. */
const gitlinkMode = '160000';
const cleanComparedFiles = 300;
const cleanComparedBytes = 8 * 1024 * 1024;

const lines = (paths: readonly string[]): string => paths.map((file) => `${file}\0`).join('');

/**
 * Git itself reads a cut index without complaint. The file ends with a hash of what stands before it, or with zeros where the user
 * turned that off (gitformat-index).
 */
const isWhole = (bytes: Buffer): boolean =>
  (['sha1', 'sha256'] as const).some((kind) => {
    const length = kind === 'sha1' ? 20 : 32;
    const end = bytes.subarray(-length);
    return (
      bytes.length > length && (end.every((byte) => byte === 0) || createHash(kind).update(bytes.subarray(0, -length)).digest().equals(end))
    );
  });

/**
 * Copies the agent's index: it knows the sparse checkout, files added against an ignore rule, and the times that spare reading every
 * file. The time of the copy is put back to a whole second, because git trusts a file whose time is older than its index.
 */
const copyIndex = async (worktree: LinkedWorktree, indexFile: string, env: Readonly<Record<string, string>>): Promise<void> => {
  await mkdir(path.dirname(indexFile), { recursive: true });
  const source = path.join(worktree.admin, 'index');
  try {
    const seconds = Math.floor((await stat(source)).mtimeMs / 1000);
    await copyFile(source, indexFile);
    await utimes(indexFile, seconds, seconds);
    assert(isWhole(await readFile(indexFile)), 'The index of the workspace is damaged.');
  } catch {
    await rm(indexFile, { force: true });
    const head = await worktree.git.run(['rev-parse', '--verify', '-q', 'HEAD^{tree}'], { allow: [1, 128] });
    await worktree.git.run(head.code === 0 ? ['read-tree', head.bytes.toString('utf8').trim()] : ['read-tree', '--empty'], { env });
  }
};

const isThere = async (file: string): Promise<boolean> => (await lstat(file).catch(() => undefined)) !== undefined;

/** Marks that tell git not to look at a file (`assume-unchanged`, `skip-worktree`) are taken from files that are there. */
const seeEveryFile = async (worktree: LinkedWorktree, env: Readonly<Record<string, string>>): Promise<void> => {
  const unseen: string[] = [];
  for (const field of await worktree.git.fields(['ls-files', '-v', '-z'], { env })) {
    const file = field.slice(2);
    if (/^[a-zS]/.test(field) && (await isThere(path.join(worktree.dir, file)))) unseen.push(file);
  }
  if (unseen.length === 0) return;
  await worktree.git.run(['update-index', '--no-assume-unchanged', '-z', '--stdin'], { env, input: lines(unseen) });
  await worktree.git.run(['update-index', '--no-skip-worktree', '-z', '--stdin'], { env, input: lines(unseen) });
};

const describe = async (dir: string, file: string): Promise<NewFile | undefined> => {
  if (file.endsWith('/')) return { path: file.slice(0, -1), kind: 'repository', sizeBytes: 0, target: '' };
  const found = await lstat(path.join(dir, file)).catch(() => undefined);
  if (found === undefined) return undefined;
  const link = found.isSymbolicLink();
  return { path: file, kind: link ? 'link' : 'file', sizeBytes: found.size, target: link ? await readlink(path.join(dir, file)) : '' };
};

interface Sorting {
  readonly keep: string[];
  readonly drop: string[];
  readonly reasons: Map<string, Reason>;
}

const sortNewFiles = async (worktree: LinkedWorktree, base: string, files: readonly string[], keepLarge: boolean): Promise<Sorting> => {
  const sorting: Sorting = { keep: [], drop: [], reasons: new Map() };
  const inBase = new Map<string, boolean>();
  for (const file of files) {
    const found = await describe(worktree.dir, file);
    const problem = file.endsWith('/') ? undefined : await untakeable(path.join(worktree.dir, file));
    if (problem !== undefined) {
      sorting.drop.push(file);
      sorting.reasons.set(file, untaken(file, problem.why));
      continue;
    }
    const reason = found === undefined ? undefined : leaveOut(found);
    if (reason !== undefined && !inBase.has(reason.path)) {
      // A project that tracks its packages goes on doing so.
      inBase.set(reason.path, (await treeEntries(worktree.git, base, [reason.path])).length > 0);
    }
    if (reason === undefined || inBase.get(reason.path) === true || (keepLarge && reason.kind === 'large')) sorting.keep.push(file);
    else {
      sorting.drop.push(file);
      sorting.reasons.set(reason.path, reason);
    }
  }
  return sorting;
};

const untaken = (file: string, why: string): Reason => ({ path: file, why, kind: 'untakeable', work: true });

/** Stands for bytes that are no UTF-8. Such a name is another one when it is written out again, so git is never asked for it. */
const replacement = '\u{FFFD}';

/**
 * Why a file cannot be taken: its name is not text, a pipe or device stands there (git knows files, links and folders), or it must not be
 * read. `readable`: what is there now is known, and it is not the file of base.
 */
const untakeable = async (file: string): Promise<{ readonly why: string; readonly readable: boolean } | undefined> => {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) return file.includes(replacement) ? { why: 'its name is not valid UTF-8', readable: false } : undefined;
  if (found.isSymbolicLink() || found.isDirectory()) return undefined;
  if (!found.isFile()) return { why: 'a pipe, socket or device stands in its place, which git cannot keep', readable: true };
  const readable = await access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
  return readable ? undefined : { why: 'it may not be read', readable };
};

/** Looks what changed in tracked files. What is gone leaves the index at once: a folder may stand where a file was. */
const lookAtTracked = async (
  worktree: LinkedWorktree,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly changed: readonly string[]; readonly reasons: readonly Reason[] }> => {
  const fields = await worktree.git.fields(['diff-files', '-z', '--name-status', '--no-renames', '--ignore-submodules=all'], { env });
  const gone = new Set<string>();
  const there = new Set<string>();
  const reasons: Reason[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const file = fields[at + 1] ?? '';
    const problem = await untakeable(path.join(worktree.dir, file));
    if (problem !== undefined) reasons.push(untaken(file, problem.why));
    // The file of base is gone where something else stands; one that cannot be read stays as it was.
    if (problem?.readable === false) continue;
    const deleted = problem !== undefined || fields[at] === 'D' || (fields[at] === 'U' && !(await isThere(path.join(worktree.dir, file))));
    (deleted ? gone : there).add(file);
  }
  if (gone.size > 0) await worktree.git.run(['update-index', '--force-remove', '-z', '--stdin'], { env, input: lines([...gone]) });
  return { changed: [...there].filter((file) => !gone.has(file)), reasons };
};

/** What the private index has other than base: one entry of `git diff-index --raw` each. */
interface Staged {
  readonly status: string;
  readonly modes: readonly [before: string, after: string];
  /** The object on base, zeros for a file that is new. */
  readonly object: string;
  readonly path: string;
}

const stagedAgainst = async (git: Git, base: string, env: Readonly<Record<string, string>>): Promise<readonly Staged[]> => {
  const raw = await git.fields(['diff-index', '--cached', '--raw', '-z', '--no-abbrev', '--no-renames', base, '--'], { env });
  const staged: Staged[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [before = '', after = '', object = '', , status = ''] = (raw[at] ?? '').slice(1).split(' ');
    staged.push({ status, modes: [before, after], object, path: raw[at + 1] ?? '' });
  }
  return staged;
};

/** A file whose bytes are those that a checkout of base writes is unchanged, whatever line ending rules would make of it now. */
const undoConversions = async (git: Git, dir: string, staged: readonly Staged[], env: Readonly<Record<string, string>>): Promise<void> => {
  const restored: string[] = [];
  for (const { modes, object, path: file } of staged.filter((one) => one.status === 'M').slice(0, cleanComparedFiles)) {
    const found = await lstat(path.join(dir, file)).catch(() => undefined);
    if (modes[0] !== modes[1] || found?.isFile() !== true || found.size > cleanComparedBytes) continue;
    const fresh = await git.run(['cat-file', '--filters', `--path=${file}`, object], { env, allow: [128] });
    if (fresh.code === 0 && fresh.bytes.equals(await readFile(path.join(dir, file)))) restored.push(`${modes[0]} ${object}\t${file}\0`);
  }
  if (restored.length > 0) await git.run(['update-index', '-z', '--index-info'], { env, input: restored.join('') });
};

/** Submodules: a commit that the user's submodule has is taken; any other would be a candidate nobody can check out. */
const takeSubmodules = async (
  git: Git,
  base: string,
  states: readonly SubmoduleState[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly notes: readonly string[]; readonly reasons: readonly Reason[] }> => {
  const staged = await gitlinks(git, env);
  const byPath = new Map(states.map((state) => [state.path, state]));
  const recorded = new Map((await treeEntries(git, base, [...staged.keys(), '.gitmodules'])).map((entry) => [entry.path, entry]));
  const info: string[] = [];
  const notes = states.filter(holdsWork).map((state) => `Submodule ${state.path} holds changes that are not part of the candidate.`);
  const reasons: Reason[] = [];
  for (const [file, commit] of staged) {
    const state = byPath.get(file);
    const was = recorded.get(file);
    const wanted = state !== undefined && state.known && state.head !== state.commit ? state.head : commit;
    const usable = wanted === was?.object || (state !== undefined && state.known && wanted === state.head);
    if (usable && wanted !== commit) info.push(`160000 ${wanted}\t${file}\0`);
    if (usable) continue;
    info.push(was === undefined ? `0 ${'0'.repeat(commit.length)}\t${file}\0` : `${was.mode} ${was.object}\t${file}\0`);
    reasons.push({ path: file, why: `commit ${commit} of this submodule is not in your own copy of it`, kind: 'submodule', work: true });
  }
  if (info.length > 0) await git.run(['update-index', '-z', '--index-info'], { env, input: info.join('') });
  return { notes, reasons };
};

/**
 * Writes the tree of a workspace against base: commits of the agent, staged, changed and new files; ignored ones and those of
 * `leave-out.ts` not. The workspace itself is only read.
 * @param request.keepLarge also takes files that are too large for a candidate: for saving, not for landing
 */
export const snapshot = async (request: {
  readonly worktree: LinkedWorktree;
  readonly base: string;
  readonly indexFile: string;
  readonly modulesDir: string;
  readonly keepLarge: boolean;
}): Promise<Snapshot> => {
  const { worktree, base, indexFile } = request;
  const { git, dir } = worktree;
  const env = { GIT_INDEX_FILE: indexFile };
  try {
    await copyIndex(worktree, indexFile, env);
    await seeEveryFile(worktree, env);
    const tracked = await lookAtTracked(worktree, env);
    const untracked = await sortNewFiles(
      worktree,
      base,
      await git.fields(['ls-files', '-o', '--exclude-standard', '-z'], { env }),
      request.keepLarge,
    );
    const taking = [...tracked.changed, ...untracked.keep];
    if (taking.length > 0) await git.run(['update-index', '--add', '-z', '--stdin'], { env, input: lines(taking) });
    const differing = await stagedAgainst(git, base, env);
    // The agent may have committed or staged what is never to be committed.
    const added = differing.filter(({ status, modes }) => status === 'A' && modes[1] !== gitlinkMode).map((one) => one.path);
    const staged = await sortNewFiles(worktree, base, added, request.keepLarge);
    if (staged.drop.length > 0) await git.run(['update-index', '--force-remove', '-z', '--stdin'], { env, input: lines(staged.drop) });
    await undoConversions(git, dir, differing, env);
    const submodules = await submoduleStates(dir, request.modulesDir);
    const links = submodules.length > 0 || differing.some(({ modes }) => modes[1] === gitlinkMode);
    const taken = links ? await takeSubmodules(git, base, submodules, env) : { notes: [], reasons: [] };
    const reasons = [...new Map([...untracked.reasons, ...staged.reasons]).values(), ...tracked.reasons, ...taken.reasons];
    return { tree: await git.line(['write-tree'], { env }), leftOut: reasons, submodules, notes: taken.notes };
  } finally {
    await rm(indexFile, { force: true });
  }
};
