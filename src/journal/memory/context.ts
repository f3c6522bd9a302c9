import { Fault } from '../../core/fault.ts';
import { epochMs } from '../../core/ids.ts';
import type { RunContext } from '../port.ts';
import { charge, overdrawn, remaining, reserve } from './budget.ts';
import { performChild } from './children.ts';
import { performMap, performRace } from './combine.ts';
import { assertOpen, complete, enter, type Frame, fresh, mayPerform, operation, park, replayed } from './frame.ts';
import type { Launcher } from './launcher.ts';
import { fromText, toText } from './payload.ts';
import { performSpawn } from './perform-spawn.ts';
import { performStep } from './perform-step.ts';
import { performRecord, performValue, performVersion, uuidFrom } from './perform-value.ts';
import { performSleep, performSleepUntil, performWaitFor } from './perform-wait.ts';
import { changeRow, runOf } from './rows.ts';
import type { Amounts } from '../port.ts';

/** Thrown by `continueAs`; whatever the handler does with it, the next generation is opened. */
export class ContinuedError extends Error {
  readonly input: unknown;

  constructor(input: unknown) {
    super('The run goes on in its next generation.');
    this.name = 'ContinuedError';
    this.input = input;
  }
}

/** A budget below zero parks the run until it has new limits, or fails it. */
export const assertFunded = async (frame: Frame): Promise<void> => {
  const { life, run } = frame.shared;
  for (let unit = overdrawn(life.state, run); unit !== undefined; unit = overdrawn(life.state, run)) {
    const message = `Run ${run} has spent more than its budget of ${unit}.`;
    if (runOf(life.state, run).onLimit === 'fail') throw new Fault('BUDGET_EXHAUSTED', message);
    await park(frame, { code: 'BUDGET_EXHAUSTED', message });
    await mayPerform(frame);
  }
};

const performReserve = async (frame: Frame, key: string, amounts: Amounts): Promise<boolean> => {
  const known = replayed(frame, enter(frame, key, 'reserve'));
  if (known !== undefined) return known.value === true;
  const { life, run } = frame.shared;
  const left = remaining(life.state, run);
  const fits = Object.entries(amounts).every(([unit, amount]) => amount <= (left[unit] ?? Infinity));
  await complete(frame, fresh(frame, key, 'reserve'), fits, { also: () => void (fits && reserve(life.state, run, amounts)) });
  return fits;
};

const performCharge = async (frame: Frame, key: string, amounts: Amounts): Promise<void> => {
  const { life, run } = frame.shared;
  if (replayed(frame, enter(frame, key, 'charge')) === undefined) {
    await complete(frame, fresh(frame, key, 'charge'), null, { also: () => charge(life.state, run, amounts) });
  }
  await assertFunded(frame);
};

/** What a handler, or a branch of it, gets. */
export const createContext = (frame: Frame, launcher: Launcher): RunContext => {
  const { life, run } = frame.shared;
  const { row } = runOf(life.state, run);
  const make = (branch: Frame): RunContext => createContext(branch, launcher);
  const effect = <T>(body: () => Promise<T>): Promise<T> =>
    operation(frame, async () => {
      const value = await body();
      await assertFunded(frame);
      return value;
    });
  return {
    run: { id: row.id, generation: row.generation, startedAt: row.startedAt, parent: row.parent, labels: row.labels },
    signal: frame.signal,
    step: (key, options, body) => effect(() => performStep(frame, { key, options, effect: body })),
    spawn: (key, spec, options = {}) => effect(() => performSpawn(frame, { key, spec, options })),
    sleep: (key, ms) => operation(frame, () => performSleep(frame, key, ms)),
    sleepUntil: (key, at) => operation(frame, () => performSleepUntil(frame, key, at)),
    now: (key) => operation(frame, async () => epochMs(await performValue(frame, key, life.options.clock))),
    random: (key) => operation(frame, () => performValue(frame, key, life.options.chance)),
    uuid: (key) => operation(frame, () => performValue(frame, key, () => uuidFrom(life.options.chance))),
    waitFor: (key, options) => operation(frame, () => performWaitFor(frame, key, options)),
    child: (key, handler, input, options = {}) => operation(frame, () => performChild(frame, launcher, { key, handler, input, options })),
    map: (key, items, options, fn) => operation(frame, () => performMap(frame, make, { key, items, options, fn })),
    race: (key, branches) => operation(frame, () => performRace(frame, make, { key, branches })),
    budget: {
      remaining: () => remaining(life.state, run),
      reserve: (key, amounts) => operation(frame, () => performReserve(frame, key, amounts)),
      charge: (key, amounts) => operation(frame, () => performCharge(frame, key, amounts)),
    },
    emit: (stream, event) => {
      assertOpen(frame);
      const kept = fromText(toText(event, `An event of the stream ${stream}`));
      const { streams } = life.state;
      void operation(frame, () =>
        life.write((write) => void streams.push({ seq: streams.length + 1, run, stream, at: write.now, event: kept })),
      ).catch(() => {});
    },
    version: (id, min, max) => operation(frame, () => performVersion(frame, { id, min, max })),
    continueAs: async (input) => {
      assertOpen(frame);
      const kept = fromText(toText(input, `The input of run ${run}`));
      await mayPerform(frame);
      frame.shared.continued = { input: kept };
      throw new ContinuedError(kept);
    },
    record: (key, kind, data) => operation(frame, () => performRecord(frame, key, { kind, data })),
    set: (name, value) => {
      assertOpen(frame);
      const kept = fromText(toText(value, `The view of run ${run}`));
      void operation(frame, () =>
        life.write(() => {
          const { [name]: _, ...others } = runOf(life.state, run).row.view;
          changeRow(life.state, run, { view: kept === undefined ? others : { ...others, [name]: kept } });
        }),
      ).catch(() => {});
    },
    cleanup: (key, body) => {
      enter(frame, key, 'cleanup');
      frame.shared.cleanups.push({ key: `${frame.prefix}${key}`, effect: body });
    },
  };
};
