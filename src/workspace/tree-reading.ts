import { Fault } from '../core/fault.ts';
import type { CommitSha } from '../core/ids.ts';
import { createGit, type Git } from './git.ts';
import type { Repository } from './port.ts';

export interface TreeEntry {
  /** Six octal digits: `100644`, `100755`, `120000` (link), `160000` (submodule). */
  readonly mode: string;
  readonly object: string;
  readonly path: string;
}

/** Reads `<mode> <type> <object>\t<path>` and `<mode> <object> <stage>\t<path>` alike. */
export const parseEntry = (field: string): TreeEntry => {
  const tab = field.indexOf('\t');
  const [mode = '', second = '', third = ''] = field.slice(0, tab).split(' ');
  return { mode, object: /^[0-9a-f]{40,64}$/.test(second) ? second : third, path: field.slice(tab + 1) };
};

/** Entries of a tree at exactly these paths; a path that is not there gives none. All entries of the tree without paths. */
export const treeEntries = async (git: Git, tree: string, paths: readonly string[] = []): Promise<TreeEntry[]> => {
  const entries: TreeEntry[] = [];
  // Arguments of one call together stay far below the limits of the system.
  for (let first = 0; first === 0 || first < paths.length; first += 200) {
    const part = paths.slice(first, first + 200);
    const fields = await git.fields(['ls-tree', '-r', '-z', '--full-tree', tree, '--', ...part]);
    entries.push(...fields.map(parseEntry));
  }
  return entries;
};

/** Paths that differ between two commits or trees, exact, sorted; a rename gives both names. */
export const pathsBetween = (git: Git, from: string, to: string): Promise<string[]> =>
  git.fields(['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--no-commit-id', from, to, '--']);

export const changedPaths = (repository: Repository, from: CommitSha, to: CommitSha): Promise<string[]> =>
  pathsBetween(createGit(repository.root), from, to);

/** An object name says what the object is, for ever: what was read once under a whole name need not be asked again. */
const wholeName = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const namesRemembered = 5_000;

const treesOfCommits = new Map<string, string>();

/** Notes the tree of a commit just made or read, for `treeOf`. */
export const rememberTree = (commit: string, tree: string): void => {
  if (!wholeName.test(commit) || treesOfCommits.has(commit)) return;
  for (const oldest of treesOfCommits.keys()) {
    if (treesOfCommits.size < namesRemembered) break;
    treesOfCommits.delete(oldest);
  }
  treesOfCommits.set(commit, tree);
};

export const treeOf = async (git: Git, commit: string): Promise<string> => {
  const known = treesOfCommits.get(commit);
  if (known !== undefined) return known;
  const tree = await git.line(['rev-parse', '--verify', '-q', '--end-of-options', `${commit}^{tree}`]);
  rememberTree(commit, tree);
  return tree;
};

/** `<object> <type> <size>` before the bytes of an object, or why there are none (git-cat-file, "BATCH OUTPUT"). */
const batchHead = /^[0-9a-f]+ (commit|tree|blob|tag) (\d+)$/;

const readBatch = (bytes: Buffer, at: number): { readonly type: string; readonly content: Buffer; readonly next: number } => {
  const end = bytes.indexOf(0x0a, at);
  const [, type = 'missing', size = '-1'] = batchHead.exec(bytes.subarray(at, end).toString('latin1')) ?? [];
  const from = end + 1;
  const to = from + Math.max(0, Number(size));
  return { type, content: bytes.subarray(from, to), next: Number(size) < 0 ? from : to + 1 };
};

/** The bytes of a file as committed (for a link: its target); undefined where there is no file of that name. */
export const readFileAt = async (repository: Repository, commit: CommitSha, file: string): Promise<Buffer | undefined> => {
  // Git reads `./` and `../` after the colon against the folder it stands in.
  if (/^\.{1,2}(?:\/|$)/.test(file)) return undefined;
  const { bytes } = await createGit(repository.root).run(['cat-file', '--batch', '-z'], { input: `${commit}\0${commit}:${file}\0` });
  const first = readBatch(bytes, 0);
  if (first.type !== 'commit') {
    throw new Fault('GIT_FAILED', `Commit ${commit} cannot be read in ${repository.root}.`, { data: { commit, dir: repository.root } });
  }
  rememberTree(commit, /^tree ([0-9a-f]+)\n/.exec(first.content.toString('latin1'))?.[1] ?? '');
  const found = readBatch(bytes, first.next);
  return found.type === 'blob' ? found.content : undefined;
};
