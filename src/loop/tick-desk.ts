// Ticks as the schedule sees them: durable runs of the engine under the id of their window.
import type { LoopDefinition } from '../core/loop-definition.ts';
import { Fault } from '../core/fault.ts';
import { runId } from '../core/ids.ts';
import type { Engine, LoopHandler, RunHandle, RunRow } from '../journal/index.ts';
import type { EndedTick, Ticks } from '../schedule/index.ts';
import type { TickInput } from './port.ts';
import { exitOfTick, inputOf, isTaskRun, tickHandler, tickInputOf } from './run-record.ts';

export interface TickDesk extends Ticks {
  onEnded(told: () => void): void;
  /** Goes on with one run that waited for its condition, as a tick of its own. */
  wake(row: RunRow): Promise<void>;
  /** Whether that was done for this stretch of the run. */
  hasWoken(row: RunRow): boolean;
}

const endedMax = 1_000;

export interface TickDeskParts {
  readonly engine: Pick<Engine, 'start' | 'cancel' | 'reader'>;
  readonly tick: LoopHandler;
  /** What the engine went on with at its start. */
  readonly recovered: readonly RunHandle[];
  /** A loop as it is defined now; `undefined` for one that has no file. @throws Rejection for one that cannot be read */
  readonly definitionOf: (loop: string) => Promise<LoopDefinition | undefined>;
  /** Folder of the loops inside the repository. */
  readonly prefix: string;
}

export const createTickDesk = ({ engine, tick, recovered, definitionOf, prefix }: TickDeskParts): TickDesk => {
  const listeners: (() => void)[] = [];
  const tellEnd = (handle: RunHandle): void => {
    const told = (): void => {
      for (const listener of listeners) listener();
    };
    handle.ended.then(told, told);
  };
  for (const handle of recovered) if (isTick(engine.reader.run(handle.id))) tellEnd(handle);

  const begin = async (id: string, input: TickInput): Promise<void> => {
    tellEnd(await engine.start(tick, input, { id: runId(id), dedupeKey: id }));
  };

  return {
    start: async (window) => {
      const loop = await definitionOf(window.loop);
      if (loop === undefined) throw new Fault('LOOP_GONE', `The loop ${window.loop} is not there any more.`);
      await begin(window.id, { loop, prefix, trigger: window.on, wakes: [] });
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
      // A loop from the command line has no file and stays as it was.
      const { loop, prefix: own } = inputOf(row);
      await begin(wakingId(row), {
        loop: (await definitionOf(loop.name)) ?? loop,
        prefix: own,
        trigger: 'wake',
        wakes: [row.id],
      });
    },
    hasWoken: (row) => engine.reader.run(wakingId(row)) !== undefined,
  };
};

const wakingId = (row: RunRow): string => `${inputOf(row).loop.name}/wake/${row.id}@${row.generation}`;

const isTick = (row: RunRow | undefined): boolean => row !== undefined && !isTaskRun(row);
