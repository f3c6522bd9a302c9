import type { CommitSha } from '../src/core/ids.ts';
import { Fault } from '../src/core/fault.ts';
import type { Candidate, WorkspaceManager } from '../src/workspace/index.ts';
import type { Stage } from './stage.ts';
import type { SimCommit, World } from './world.ts';

export const candidateOf = (commit: SimCommit, base: CommitSha): Candidate => ({
  commit: commit.sha,
  tree: commit.tree,
  base,
  changed: commit.sha === base ? [] : ['src/a.ts'],
  leftOut: [],
  unfinished: '',
  agentCommits: 0,
  notes: [],
});

const unused = (name: string) => (): never => {
  throw new Error(`The simulated workspaces have no ${name}.`);
};

/** @param isBroken whether git fails this time */
export const fakeWorkspaces = (stage: Stage, world: World, isBroken: () => boolean): WorkspaceManager => ({
  open: (run, base) =>
    stage.effect(`workspace ${run}`, () => {
      if (isBroken()) throw new Fault('GIT_FAILED', 'The simulated git has failed.');
      if (!world.workspaces.has(run)) world.workspaces.set(run, { run, base, left: undefined });
      return { dir: `/worktrees/${run}` };
    }),
  commit: (run, attempt, base) =>
    stage.effect(`candidate ${run} ${attempt}`, () => {
      const ref = `${run}/a${attempt}`;
      const known = world.refs.get(ref);
      if (known !== undefined) return candidateOf(known, base);
      const workspace = world.workspaces.get(run);
      if (workspace === undefined) throw new Fault('WORKSPACE_MISSING', `The workspace of run ${run} is gone.`);
      const commit = workspace.left ?? world.commit(workspace.base);
      world.refs.set(ref, commit);
      return candidateOf(commit, base);
    }),
  release: (run, landed) =>
    stage.effect(`release ${run}`, () => {
      const workspace = world.workspaces.get(run);
      if (workspace === undefined) return [];
      // Work that is in no landed commit stays (L7).
      if (workspace.left !== undefined && !landed.includes(workspace.left.sha)) return ['unlanded-commits' as const];
      world.workspaces.delete(run);
      return [];
    }),
  candidate: unused('candidate'),
  list: unused('list'),
  free: unused('free'),
  cleanRoom: unused('cleanRoom'),
  discardCleanRoom: unused('discardCleanRoom'),
});
