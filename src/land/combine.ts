import { treeOf, type Git } from '../workspace/index.ts';

export type Combined =
  | { readonly combined: true; readonly tree: string }
  | { readonly combined: false; readonly conflicts: readonly string[] };

/** Merges two commits into a tree without any checkout (git-merge-tree, `--write-tree`, git 2.38). */
export const combine = async (git: Git, ours: string, theirs: string): Promise<Combined> => {
  const { code, bytes } = await git.run(['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs], { allow: [1] });
  const [tree = '', ...files] = bytes.toString('utf8').split('\0');
  return code === 0 ? { combined: true, tree } : { combined: false, conflicts: [...new Set(files.filter((file) => file !== ''))] };
};

export const isAncestor = async (git: Git, commit: string, of: string): Promise<boolean> =>
  (await git.run(['merge-base', '--is-ancestor', commit, of], { allow: [1, 128] })).code === 0;

export const sameTree = async (git: Git, one: string, other: string): Promise<boolean> =>
  (await treeOf(git, one)) === (await treeOf(git, other));
