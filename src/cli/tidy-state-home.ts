// What a killed engine left in its state home goes at the next start (L13). Only the owner tidies, before it starts anything, so nothing
// that is removed here can be in use: a run that goes on makes its clean rooms anew. Names that Gyre would not have given stay, and
// so does everything behind a link.
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { removeFolder } from '../workspace/index.ts';

/** Job folders (output of agents and checks) are kept of every open run and of this many newest ones of tasks. */
export const runsWithJobs = 100;

export interface TidyRequest {
  /** Absolute; owned by the caller. */
  readonly stateHome: string;
  /** Folders below `jobs/` that stay. */
  readonly keepJobs: ReadonlySet<string>;
  /** Ends whatever still carries this marker; the marker of a check is the name of its clean room. */
  readonly endProcesses: (marker: string) => Promise<unknown>;
  readonly isRunning: (jobDir: string) => Promise<boolean>;
}

const cleanRoom = /^(?:check-[a-z0-9-]+|discover)-[0-9a-f]{8}$/;
const checkTemporary = /^[0-9a-f]{8}$/;
const privateIndex = /-(\d+)-\d+\.index(?:\.lock)?$/;

const realFolder = async (dir: string): Promise<boolean> => (await lstat(dir).catch(() => undefined))?.isDirectory() === true;

const namesIn = async (dir: string): Promise<readonly string[]> => ((await realFolder(dir)) ? await readdir(dir).catch(() => []) : []);

/** What cannot be removed now (a process still writes there) is tried again at the next start. */
const removeIfPossible = (entry: string): Promise<void> => removeFolder(entry).catch(() => {});

const processExists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const tidyJobs = async ({ stateHome, keepJobs, isRunning }: TidyRequest): Promise<void> => {
  const jobs = path.join(stateHome, 'jobs');
  for (const name of await namesIn(jobs)) {
    if (keepJobs.has(name)) continue;
    const dir = path.join(jobs, name);
    const running = await Promise.all((await namesIn(dir)).map((job) => isRunning(path.join(dir, job)).catch(() => true)));
    if (!running.includes(true)) await removeIfPossible(dir);
  }
};

/**
 * Removes orphaned clean rooms, temporary folders of checks, private indexes of processes that are gone, and job folders of past ticks
 * and long ended runs. Never fails: a start must not hang on tidiness.
 */
export const tidyStateHome = async (request: TidyRequest): Promise<void> => {
  const { stateHome, endProcesses } = request;
  const clean = path.join(stateHome, 'clean');
  for (const name of await namesIn(clean)) {
    if (!cleanRoom.test(name)) continue;
    await endProcesses(name).catch(() => {});
    await removeIfPossible(path.join(clean, name));
  }
  // Pooled folders are proven by what their engine remembers, and that engine is gone.
  if (await realFolder(path.join(stateHome, 'pool'))) await removeIfPossible(path.join(stateHome, 'pool'));
  const temporary = path.join(stateHome, 'tmp');
  for (const name of await namesIn(temporary)) {
    const pid = privateIndex.exec(name)?.[1];
    // `gyre workspaces` reads beside a running engine, with an index of its own.
    const isOrphan = pid === undefined ? checkTemporary.test(name) : !processExists(Number(pid));
    if (isOrphan) await removeIfPossible(path.join(temporary, name));
  }
  await tidyJobs(request);
};
