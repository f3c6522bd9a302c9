import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../core/fault.ts';
import { commitSha, type CommitSha, type EpochMs } from '../core/ids.ts';
import { tracesOf, userRefs } from './agent-traces.ts';
import { commitCandidate, lastCandidate, readCandidate } from './candidate.ts';
import { makeCleanRoom } from './clean-room.ts';
import { createGit, type Git } from './git.ts';
import { countUnnamed, holdsOf } from './holds.ts';
import { engineIdentity, identityOf } from './identity.ts';
import { placesIn, readOpening, writeOpening, type Places } from './places.ts';
import { checkoutSettings, type WorkspacePool } from './pool.ts';
import type { Repository, WorkspaceInfo, WorkspaceManager } from './port.ts';
import { checkName, readRef, runRef, savedRef, updateRefs } from './refs.ts';
import { folderBytes, removeFolder } from './remove-folder.ts';
import { snapshot } from './snapshot.ts';
import { fillSubmodules, holdsWork, saveSubmodule } from './submodules.ts';
import { treeOf } from './tree-reading.ts';
import { adminDirOf, adminDirsFor, forgetMissing, forgetWorktree, linkedWorktree, readLine } from './worktree-link.ts';

// Invariants:
// 1. The user's checkout and configuration are never written (L6). In the repository only `worktrees/` and refs/gyre/ change.
// 2. A workspace folder is removed or given to the pool in one place, `remove`, and only after `look` found nothing that would be lost, or after its work was saved (L7).
// 3. No git command runs in a workspace whose link was not checked just before.

type Hold = WorkspaceInfo['holds'][number];

const isThere = async (file: string): Promise<boolean> => (await lstat(file).catch(() => undefined)) !== undefined;

/**
 * What git keeps of a worktree that `git worktree add` was making when the engine died: locked under this word, never seen by an agent.
 * Found by what git keeps, not by the folder: that may not be there yet, or have been removed by an engine that died in the middle of that.
 */
const halfMade = async (repository: Repository, dir: string): Promise<readonly string[]> => {
  const half: string[] = [];
  for (const admin of await adminDirsFor(repository, dir))
    if ((await readLine(path.join(admin, 'locked'))) === 'initializing') half.push(admin);
  return half;
};

const openWorktree = async (
  context: {
    readonly git: Git;
    readonly repository: Repository;
    readonly places: Places;
    readonly nowMs: number;
    readonly pool: WorkspacePool | undefined;
  },
  run: string,
  base: CommitSha,
): Promise<string> => {
  const { git, repository, places } = context;
  const dir = places.worktree(run);
  const opening = await readOpening(places.record(run));
  const half = await halfMade(repository, dir);
  if (half.length > 0 && (opening === undefined || !(await isThere(dir)))) {
    await removeFolder(dir);
    for (const admin of half) await removeFolder(admin);
  }
  const admin = await adminDirOf(repository, dir);
  if (admin !== undefined) {
    // Its record is there, so its files are: the engine died between the record and the unlocking.
    if (half.includes(admin)) await rm(path.join(admin, 'locked'), { force: true });
    return dir;
  }
  if (await isThere(dir)) {
    // Nobody knows whose files these are now, and deleting them could lose work.
    await mkdir(places.lost(run), { recursive: true });
    await rename(dir, path.join(places.lost(run), String(context.nowMs)));
  }
  await forgetWorktree(git, repository, dir);
  await removeFolder(places.modules(run));
  const before = opening ?? { base, createdAt: context.nowMs, refs: Object.fromEntries(await userRefs(git)) };
  await updateRefs(git, [[{ ref: runRef(run, 'base'), to: base, from: 'any' }]], engineIdentity(context.nowMs / 1000));
  const last = await lastCandidate(git, run);
  // Locked until its files are there: a crash in between leaves what `halfMade` recognises.
  const made = ['--detach', '--no-checkout', '--lock', '--reason', 'initializing'];
  await git.run(['worktree', 'add', ...made, '--', dir, last?.head ?? base]);
  const worktree = await linkedWorktree(repository, dir);
  if (last === undefined && context.pool !== undefined) await context.pool.fill(worktree, run, base);
  else await worktree.git.run(['read-tree', '-u', '--reset', last?.commit ?? base], { settings: checkoutSettings });
  const sparse = await isThere(path.join(worktree.admin, 'info', 'sparse-checkout'));
  await fillSubmodules(worktree.git, repository, { modulesDir: places.modules(run), sparse });
  await writeOpening(places.record(run), before);
  await rm(path.join(worktree.admin, 'locked'), { force: true });
  return dir;
};

export const createWorkspaces = (options: {
  readonly repository: Repository;
  readonly stateHome: string;
  readonly clock: () => EpochMs;
  /** Where finished workspaces go that hold nothing, and new ones may come from. Without it each is made and removed for its run. */
  readonly pool?: WorkspacePool;
}): WorkspaceManager => {
  const { repository, clock, pool } = options;
  const git = createGit(repository.root);
  let made: Promise<Places> | undefined;
  const places = (): Promise<Places> => (made ??= placesIn(options.stateHome));
  let forgot = false;

  /** What was left over from before is forgotten once; of its own worktrees each run takes care. */
  const forgetStale = async (at: Places): Promise<void> => {
    if (forgot) return;
    forgot = true;
    await forgetMissing(git, repository, at.worktrees);
  };

  const baseOf = async (run: string, at: Places): Promise<string | undefined> =>
    (await readOpening(at.record(run)))?.base ?? (await readRef(git, runRef(run, 'base')));

  /** The state of a workspace, with everything that removing it would lose. */
  const look = async (run: string, at: Places, landed: readonly CommitSha[]) => {
    const dir = at.worktree(run);
    const worktree = await linkedWorktree(repository, dir);
    const base = await baseOf(run, at);
    if (base === undefined) {
      throw new Fault('WORKSPACE_UNKNOWN', `Nothing is known of the start of workspace ${dir}.`, {
        hint: 'Look at the folder and remove it by hand.',
        data: { dir },
      });
    }
    const shot = await snapshot({ worktree, base, indexFile: at.index(run), modulesDir: at.modules(run), keepLarge: false });
    const traces = await tracesOf(worktree, base, undefined);
    const landedTrees = new Set(await Promise.all(landed.map((commit) => treeOf(git, commit))));
    const named = landedTrees.has(shot.tree);
    const view = {
      snapshot: shot,
      baseTree: await treeOf(git, base),
      headTree: await treeOf(git, traces.head),
      // Where the tree is safe already, nobody asks for the commits it was made of.
      unnamedCommits: named ? 0 : await countUnnamed(git, [traces.head, ...traces.left]),
      landedTrees,
    };
    return { worktree, base, shot, traces, view, holds: holdsOf(view) };
  };

  const remove = async (run: string, at: Places, reusable = false): Promise<void> => {
    if (!reusable || pool === undefined || !(await pool.give(run, at.worktree(run)))) await removeFolder(at.worktree(run));
    await forgetWorktree(git, repository, at.worktree(run));
    await removeFolder(at.modules(run));
    await removeFolder(at.record(run));
  };

  const describe = async (run: string, at: Places, live: boolean): Promise<WorkspaceInfo> => {
    const dir = at.worktree(run);
    const opening = await readOpening(at.record(run));
    // A folder that cannot be looked into is never called empty.
    const holds: Hold[] = await look(run, at, []).then(
      (seen) => [...seen.holds],
      () => ['uncommitted-changes'],
    );
    return {
      run,
      dir,
      base: commitSha((await baseOf(run, at)) ?? (await git.line(['rev-parse', 'HEAD']))),
      holds: live ? [...holds, 'live-run'] : holds,
      bytes: await folderBytes(dir),
      createdAt: opening?.createdAt ?? (await lstat(dir)).birthtimeMs,
    };
  };

  /** Remains put aside by `openWorktree`: kept until a person removes the folder. */
  const lostIn = async (at: Places): Promise<WorkspaceInfo[]> => {
    const infos: WorkspaceInfo[] = [];
    for (const run of await readdir(at.lostAll).catch(() => [])) {
      for (const name of await readdir(at.lost(run))) {
        const dir = path.join(at.lost(run), name);
        const base = commitSha((await baseOf(run, at)) ?? (await git.line(['rev-parse', 'HEAD'])));
        infos.push({ run, dir, base, holds: ['uncommitted-changes'], bytes: await folderBytes(dir), createdAt: Number(name) });
      }
    }
    return infos;
  };

  const turns = new Map<string, Promise<unknown>>();
  /** A folder that is being removed is not opened meanwhile, nor the other way round. */
  const inTurn = async <T>(run: string, act: () => Promise<T>): Promise<T> => {
    const mine = (turns.get(run) ?? Promise.resolve()).then(act, act);
    turns.set(run, mine);
    try {
      return await mine;
    } finally {
      if (turns.get(run) === mine) turns.delete(run);
    }
  };

  return {
    open: (run, base) =>
      inTurn(run, async () => {
        const at = await places();
        await forgetStale(at);
        return { dir: await openWorktree({ git, repository, places: at, nowMs: clock(), pool }, run, base) };
      }),

    commit: async (run, attempt, base, message) =>
      commitCandidate({ git, repository, places: await places(), run, number: attempt, base, message, nowMs: clock() }),

    candidate: (run, attempt, base) => readCandidate(git, { run, number: attempt, base }),

    release: (run, landed, mayRemove = () => true) =>
      inTurn(run, async () => {
        const at = await places();
        if (!(await isThere(at.worktree(run)))) {
          await remove(run, at);
          return [];
        }
        const { holds } = await look(run, at, landed);
        if (holds.length > 0) return holds;
        if (!mayRemove()) return ['live-run'];
        await remove(run, at, true);
        return [];
      }),

    list: async (liveRuns) => {
      const at = await places();
      const infos: WorkspaceInfo[] = [];
      for (const entry of (await readdir(at.worktrees, { withFileTypes: true }))
        .filter((one) => one.isDirectory())
        .sort((a, b) => (a.name < b.name ? -1 : 1))) {
        infos.push(await describe(entry.name, at, liveRuns.includes(entry.name)));
      }
      return [...infos, ...(await lostIn(at))];
    },

    free: async (run) => {
      const at = await places();
      if (!(await isThere(at.worktree(run)))) {
        await remove(run, at);
        return { savedAs: undefined };
      }
      const { worktree, base, shot, traces, view, holds } = await look(run, at, []);
      const inside = shot.leftOut.find((reason) => reason.kind === 'repository');
      if (inside !== undefined) {
        throw new Fault(
          'WORKSPACE_HOLDS_REPOSITORY',
          `Workspace ${worktree.dir} holds a git repository of its own at ${inside.path}, which cannot be saved with it.`,
          {
            hint: 'Move that folder away, then free the workspace again.',
            data: { run, path: inside.path },
          },
        );
      }
      for (const state of shot.submodules.filter(holdsWork)) await saveSubmodule(state, { dir: worktree.dir, run, nowMs: clock() });
      if (holds.length === 0) {
        await remove(run, at);
        return { savedAs: undefined };
      }
      const whole = await snapshot({ worktree, base, indexFile: at.index(run), modulesDir: at.modules(run), keepLarge: true });
      const env = await identityOf(git, clock() / 1000);
      const parents = [traces.head, ...traces.left].flatMap((tip) => ['-p', tip]);
      const plain = whole.tree === view.headTree && traces.left.length === 0;
      const saved = plain
        ? traces.head
        : await git.line(['commit-tree', '--no-gpg-sign', ...parents, '-m', `Saved from run ${run}`, whole.tree], { env });
      await updateRefs(git, [[{ ref: savedRef(run), to: saved, from: 'any' }]], env);
      await remove(run, at);
      return { savedAs: savedRef(run) };
    },

    cleanRoom: async (name, commit, pin) => {
      const dir = path.join((await places()).clean, checkName(name));
      await mkdir(path.dirname(dir), { recursive: true });
      await makeCleanRoom({ repository, dir, commit, pin });
      return { dir };
    },

    discardCleanRoom: async (name) => removeFolder(path.join((await places()).clean, checkName(name))),
  };
};
