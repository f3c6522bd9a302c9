// Ticks as the schedule sees them: durable runs of the engine under the id of their window.
import type { ConfigSource } from '../config/index.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import { runId } from '../core/ids.ts';
import type { RunHandle, RunRow } from '../journal/index.ts';
import { exitOfTick, inputOf, isTaskRun, type TickInput, tickHandler, tickInputOf } from '../loop/index.ts';
import type { EndedTick, Ticks } from '../schedule/index.ts';
import type { Cycle } from './compose.ts';

export interface TickDesk extends Ticks {
  onEnded(told: () => void): void;
  /** Goes on with one run that waited for its condition, as a tick of its own. */
  wake(row: RunRow): Promise<void>;
}

const endedMax = 1_000;

export const createTickDesk = ({
  cycle,
  source,
  prefix,
}: {
  readonly cycle: Cycle;
  readonly source: ConfigSource;
  readonly prefix: string;
}): TickDesk => {
  const { engine, handlers, recovered } = cycle;
  const listeners: (() => void)[] = [];
  const tellEnd = (handle: RunHandle): void => {
    const told = (): void => {
      for (const listener of listeners) listener();
    };
    handle.ended.then(told, told);
  };
  for (const handle of recovered) if (isTick(engine.reader.run(handle.id))) tellEnd(handle);

  const begin = async (id: string, input: TickInput): Promise<void> => {
    tellEnd(await engine.start(handlers.tick, input, { id: runId(id), dedupeKey: id }));
  };

  /** The loop as it is now; one that came from the command line has no file and stays as it was. */
  const loopNow = async (loop: LoopDefinition): Promise<LoopDefinition> =>
    (await source.names()).includes(loop.name) ? (await source.load(loop.name)).definition : loop;

  return {
    start: async (window) => {
      const { definition } = await source.load(window.loop);
      await begin(window.id, { loop: definition, prefix, trigger: window.on, wakes: [] });
    },
    exists: (id) => engine.reader.run(id) !== undefined,
    running: (loop) =>
      engine.reader
        .runs({ states: ['pending', 'running', 'paused', 'needs-attention'], loop: tickHandler.name })
        .filter((row) => tickInputOf(row).loop.name === loop)
        .map((row) => ({ id: row.id })),
    cancel: (id, reason) => engine.cancel(id, { reason }),
    ended: (loop, since) =>
      engine.reader
        .runs({ states: ['done', 'failed', 'cancelled'], loop: tickHandler.name, endedSince: since, limit: endedMax })
        .filter((row) => tickInputOf(row).loop.name === loop)
        .map((row): EndedTick => ({ id: row.id, exit: exitOfTick(row), endedAt: row.endedAt ?? since })),
    onEnded: (told) => listeners.push(told),
    wake: async (row) => {
      const { loop, prefix: own } = inputOf(row);
      await begin(`${loop.name}/wake/${row.id}@${row.generation}`, { loop: await loopNow(loop), prefix: own, trigger: 'wake', wakes: [row.id] });
    },
  };
};

const isTick = (row: RunRow | undefined): boolean => row !== undefined && !isTaskRun(row);
