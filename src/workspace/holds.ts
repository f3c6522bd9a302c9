import type { Git } from './git.ts';
import type { WorkspaceInfo } from './port.ts';
import type { Snapshot } from './snapshot.ts';
import { holdsWork } from './submodules.ts';

type Hold = WorkspaceInfo['holds'][number];

/** What a workspace shows, for deciding whether it may go. */
export interface WorkspaceView {
  readonly snapshot: Pick<Snapshot, 'tree' | 'leftOut' | 'submodules'>;
  readonly baseTree: string;
  readonly headTree: string;
  /** Commits that only this workspace still names. */
  readonly unnamedCommits: number;
  readonly landedTrees: ReadonlySet<string>;
}

/** What speaks against removing a workspace (L7). Pure. */
export const holdsOf = (view: WorkspaceView): Hold[] => {
  const { snapshot, baseTree, headTree, landedTrees } = view;
  const landed = landedTrees.has(snapshot.tree);
  const unchanged = snapshot.tree === baseTree;
  const holds: Hold[] = [];
  const filesInDanger = !landed && !unchanged && snapshot.tree !== headTree;
  if (filesInDanger || snapshot.leftOut.some((reason) => reason.work)) holds.push('uncommitted-changes');
  const headInDanger = !landed && !unchanged && headTree !== baseTree && !landedTrees.has(headTree);
  if (headInDanger || (!landed && view.unnamedCommits > 0)) holds.push('unlanded-commits');
  if (snapshot.submodules.some(holdsWork)) holds.push('submodule-changes');
  return holds;
};

/** Commits reachable from these that no ref of the repository names. */
export const countUnnamed = async (git: Git, commits: readonly string[]): Promise<number> =>
  Number(await git.line(['rev-list', '--count', ...commits, '--not', '--all', '--']));
