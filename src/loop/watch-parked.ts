// Runs that wait for an instant: they keep their place in a register and go on by themselves when it has come.
import { nextLook, isAwake, noWakeFacts, wakesAt, type Wake } from '../dispatch/index.ts';
import { type EpochMs, epochMs, type RunId } from '../core/ids.ts';
import type { Engine, Timers } from '../journal/index.ts';
import { parkedRegister } from './registers.ts';
import type { Parked } from './retries.ts';
import { isTaskRun, outputOf } from './run-record.ts';
import type { TickDesk } from './tick-desk.ts';

const lookMs = 1_000;
const longestMs = 10_000;

/**
 * Wakes parked runs whose condition has come, until it is stopped. Each waking is a tick named by run and generation, so that none
 * happens twice. The note of a run stays until the run has gone on: a tick that had to leave it (a breaker, a full machine) leaves it to
 * the next ordinary one, which finds its time come.
 * @returns stop
 */
export const watchParked = (watch: {
  readonly engine: Pick<Engine, 'put' | 'reader'>;
  readonly desk: Pick<TickDesk, 'wake' | 'hasWoken'>;
  readonly clock: () => EpochMs;
  readonly timers: Timers;
  /** One sentence for the log. */
  readonly tell: (sentence: string) => void;
}): (() => void) => {
  const { engine, desk, clock, timers, tell } = watch;
  let timer: { cancel(): void } | undefined;
  let stopped = false;

  const look = async (): Promise<void> => {
    for (const entry of engine.reader.register(parkedRegister)) {
      const { wake, generation } = entry.value as Parked;
      if (stopped || !isAwake(wake, noWakeFacts, clock())) continue;
      const row = engine.reader.run(entry.key);
      // Where somebody went on with it meanwhile, nothing waits any more.
      if (row?.endedAt === undefined || row.generation !== generation)
        await engine.put([{ register: parkedRegister, key: entry.key, value: undefined }]);
      else if (!desk.hasWoken(row)) {
        tell(`Run ${row.id} goes on: what it waited for has come.`);
        await desk.wake(row);
      }
    }
  };

  /** What is still to come: a note whose run was woken asks for no look. */
  const instants = (now: EpochMs): readonly (EpochMs | undefined)[] =>
    engine.reader.register(parkedRegister).map((entry) => {
      const at = wakesAt((entry.value as Parked).wake);
      return at !== undefined && at > now ? at : undefined;
    });

  const loop = (): void => {
    look()
      .catch((error: unknown) => tell(`A parked run could not be gone on with: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => {
        if (stopped) return;
        const now = clock();
        const next = nextLook(instants(now), now);
        timer = timers.after(Math.min(longestMs, Math.max(lookMs, (next ?? epochMs(now + longestMs)) - now)), loop);
      });
  };
  loop();
  return () => {
    stopped = true;
    timer?.cancel();
  };
};

/** Runs that were ended with their engine go on with the next one at once, not only with their loop's next tick. */
export const parkInterrupted = async (
  { engine, clock }: { readonly engine: Pick<Engine, 'put' | 'reader'>; readonly clock: () => EpochMs },
  runs: readonly RunId[],
): Promise<void> => {
  const wake: Wake = { on: 'time', at: clock() };
  const changes = runs.flatMap((id) => {
    const row = engine.reader.run(id);
    if (row === undefined || !isTaskRun(row) || row.endedAt === undefined || outputOf(row).again !== 'next-tick') return [];
    const parked: Parked = { wake: outputOf(row).wake ?? wake, generation: row.generation };
    return [{ register: parkedRegister, key: id, value: parked }];
  });
  if (changes.length > 0) await engine.put(changes);
};
