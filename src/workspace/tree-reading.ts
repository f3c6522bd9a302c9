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

/** The bytes of a file as committed (for a link: its target); undefined where there is no file of that name. */
export const readFileAt = async (repository: Repository, commit: CommitSha, file: string): Promise<Buffer | undefined> => {
  const git = createGit(repository.root);
  const entry = (await treeEntries(git, commit, [file])).find((one) => one.path === file && one.mode !== '160000');
  return entry === undefined ? undefined : (await git.run(['cat-file', 'blob', entry.object])).bytes;
};

export const treeOf = (git: Git, commit: string): Promise<string> =>
  git.line(['rev-parse', '--verify', '-q', '--end-of-options', `${commit}^{tree}`]);
