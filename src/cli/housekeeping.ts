// What a daemon that stays up for months would pile up: output of past discoveries, workspaces that hold nothing, and the steps of runs that ended long ago.
import path from 'node:path';
import { epochMs } from '../core/ids.ts';
import { type Engine, runJobsFolder } from '../journal/index.ts';
import { tickHandler } from '../loop/index.ts';
import type { RotatingLog } from '../server/index.ts';
import { removeFolder, type WorkspaceManager } from '../workspace/index.ts';
import { pruneWorkspaces } from './prune-workspaces.ts';

/** Ticks whose output is kept for a look. */
export const ticksWithJobs = 20;
const lookMs = 5 * 60_000;
const ticksAtOnce = 1_000;
const dayMs = 24 * 3_600_000;
/** Steps, streams and large values of runs that ended before are purged; their facts and rows stay. */
const keptMs = 90 * dayMs;

/**
 * Clears away until it is stopped. Only folders of ticks that the journal says have ended are touched, so nothing in use can be among them.
 * @returns stop
 */
export const keepHouse = ({
  engine,
  stateHome,
  log,
}: {
  readonly engine: Engine;
  readonly stateHome: string;
  readonly log: RotatingLog;
}): (() => void) => {
  let since = epochMs(0);
  let purgedAt = 0;

  const clearJobs = async (): Promise<void> => {
    const ended = engine.reader.runs({
      loop: tickHandler.name,
      states: ['done', 'failed', 'cancelled'],
      endedSince: since,
      limit: ticksAtOnce,
    });
    const over = ended.slice(0, Math.max(0, ended.length - ticksWithJobs));
    for (const { id } of over) await removeFolder(path.join(stateHome, 'jobs', runJobsFolder(id)));
    since = over.at(-1)?.endedAt ?? since;
  };

  const purge = async (now: number): Promise<void> => {
    if (now - purgedAt < dayMs) return;
    purgedAt = now;
    const { runs, bytes } = await engine.purge({ before: epochMs(now - keptMs), keep: ['needs-attention'] });
    if (runs > 0) log.write(`Purged the steps of ${runs} runs that ended more than 90 days ago (${bytes} bytes).`);
  };

  const look = (): void => {
    clearJobs()
      .then(() => purge(Date.now()))
      .catch((error: unknown) => log.write(`Clearing away failed: ${error instanceof Error ? error.message : String(error)}`));
  };
  const timer = setInterval(look, lookMs);
  return () => clearInterval(timer);
};

/**
 * Removes workspaces that hold nothing unlanded, at the same interval, as long as the engine is at work; each removal is a fact.
 * @returns ends it, and waits for the look under way
 */
export const keepPruned = ({
  engine,
  stateHome,
  workspaces,
}: {
  readonly engine: Pick<Engine, 'reader' | 'record'>;
  readonly stateHome: string;
  readonly workspaces: Pick<WorkspaceManager, 'release'>;
}): (() => Promise<void>) => {
  const seen = new Set<string>();
  let looking: Promise<void> | undefined;
  const prune = async (): Promise<void> => {
    for (const run of await pruneWorkspaces({ reader: engine.reader, workspaces, stateHome, now: Date.now(), seen }))
      await engine.record('workspace.pruned', { run });
  };
  const timer = setInterval(() => {
    // An engine that cannot write any more says so by itself; the folder is gone all the same.
    looking ??= prune()
      .catch(() => undefined)
      .finally(() => (looking = undefined));
  }, lookMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await looking;
  };
};
