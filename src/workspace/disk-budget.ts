import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Dependencies } from './dependencies.ts';
import type { WorkspacePool } from './pool.ts';
import { folderBytes } from './remove-folder.ts';

/** Bytes of what the engine keeps of checkouts in a state home. */
export interface DiskUse {
  /** Workspaces of runs, what was put aside of them, their submodules. Nothing here is ever removed to make room (L7). */
  readonly workspaces: number;
  /** Clean rooms of checks at work. */
  readonly clean: number;
  readonly pool: number;
  readonly deps: number;
}

export const totalBytes = (use: DiskUse): number => use.workspaces + use.clean + use.pool + use.deps;

const folders = { workspaces: ['worktrees', 'lost', 'modules'], clean: ['clean'], pool: ['pool'], deps: ['deps'] } as const;

/** @param stateHome absolute */
export const diskUse = async (stateHome: string): Promise<DiskUse> => {
  const bytesOf = async (names: readonly string[]): Promise<number> => {
    let bytes = 0;
    for (const name of names)
      for (const entry of await readdir(path.join(stateHome, name)).catch((): string[] => []))
        bytes += await folderBytes(path.join(stateHome, name, entry));
    return bytes;
  };
  return {
    workspaces: await bytesOf(folders.workspaces),
    clean: await bytesOf(folders.clean),
    pool: await bytesOf(folders.pool),
    deps: await bytesOf(folders.deps),
  };
};

const told = (bytes: number): string => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`);

export interface DiskBudget {
  /**
   * Makes room for another workspace: spare folders go first, then kept dependencies, the least recently used first, then folders of
   * finished runs. Unlanded work is never touched.
   * @param run whose workspace it is: one that is there already needs no room
   * @returns why there is no room; undefined when there is
   */
  makeRoom(run?: string): Promise<string | undefined>;
}

/** Several runs that begin together count once, and counting takes at most a tenth of the time: a folder of 100,000 files takes a second. */
const countedForMs = 5_000;
const countedForTimes = 10;

/**
 * @param options.limitBytes for everything in `DiskUse` together
 * @param options.stateHome absolute
 */
export const createDiskBudget = (options: {
  readonly limitBytes: number;
  readonly stateHome: string;
  readonly pool: WorkspacePool;
  readonly dependencies?: Pick<Dependencies, 'shrink'>;
  readonly clock: () => number;
}): DiskBudget => {
  const { limitBytes, stateHome, pool, dependencies, clock } = options;
  let counted: { readonly why: Promise<string | undefined>; untilMs: number } | undefined;

  /** What goes, in this order, each given how many bytes are too many. A shrink to infinity says what there is. */
  const steps: readonly ((bytesOver: number) => Promise<unknown>)[] = [
    async (bytesOver) => pool.shrink(Math.max(0, (await pool.shrink(Infinity)) - bytesOver), 'spare'),
    async (bytesOver) => dependencies?.shrink(Math.max(0, (await dependencies.shrink(Infinity)) - bytesOver)),
    async (bytesOver) => pool.shrink(Math.max(0, (await pool.shrink(Infinity)) - bytesOver)),
  ];

  const look = async (): Promise<string | undefined> => {
    let bytes = totalBytes(await diskUse(stateHome));
    for (const step of steps) {
      if (bytes <= limitBytes) return undefined;
      await step(bytes - limitBytes);
      bytes = totalBytes(await diskUse(stateHome));
    }
    if (bytes <= limitBytes) return undefined;
    return `Workspaces and clean rooms hold ${bytes} bytes (${told(bytes)}), more than workspace.disk allows (${limitBytes} bytes, ${told(limitBytes)}); everything else was removed. \`gyre workspaces\` lists what holds unlanded work; land it, or free it with \`gyre workspaces --free <run>\``;
  };

  return {
    makeRoom: async (run) => {
      if (run !== undefined && (await lstat(path.join(stateHome, 'worktrees', run)).catch(() => undefined)) !== undefined) return undefined;
      const beganMs = clock();
      if (counted === undefined || beganMs > counted.untilMs) {
        const why = look();
        const mine = { why, untilMs: Infinity };
        counted = mine;
        await why.finally(() => (mine.untilMs = clock() + Math.max(countedForMs, (clock() - beganMs) * countedForTimes)));
      }
      return await counted.why;
    },
  };
};
