// The breakers of all loops: state in the journal's register, transitions in dispatch/.
import {
  abandonProbe,
  beginProbe,
  type Breaker,
  breakerAfterFailure,
  breakerAfterSuccess,
  type BreakerNotice,
  classifyFailure,
} from '../dispatch/index.ts';
import type { Engine, RegisterChange, RunRow } from '../journal/index.ts';
import type { EpochMs } from '../core/ids.ts';
import { breakerRegister, noticeRegister } from './registers.ts';
import { attemptsOf, inputOf, outputOf } from './run-record.ts';

export interface Breakers {
  all(): Readonly<Record<string, Breaker>>;
  /** What a run that ended does to its loop's breaker; a notice is written once for each opening. */
  ended(run: { readonly loop: string; readonly row: RunRow }): Promise<void>;
  /** The run that an open breaker lets through. */
  probe(loop: string, run: string): Promise<void>;
  /** A person says that it is mended. */
  close(loop: string): Promise<void>;
}

export const createBreakers = (parts: { readonly engine: Pick<Engine, 'put' | 'reader'>; readonly clock: () => EpochMs }): Breakers => {
  const { engine, clock } = parts;
  const known = new Map<string, Breaker>(engine.reader.register(breakerRegister).map((entry) => [entry.key, entry.value as Breaker]));

  /** One notice a loop: written when its breaker opens, taken away when it closes. */
  const set = async (loop: string, breaker: Breaker, notice?: BreakerNotice): Promise<void> => {
    if (JSON.stringify(known.get(loop)) === JSON.stringify(breaker)) return;
    known.set(loop, breaker);
    const place = { register: noticeRegister, key: `breaker/${loop}` };
    const changes: RegisterChange[] = [{ register: breakerRegister, key: loop, value: breaker }];
    if (notice !== undefined) changes.push({ ...place, value: { kind: 'breaker', at: clock(), ...notice } });
    else if (breaker.state === 'closed') changes.push({ ...place, value: undefined });
    await engine.put(changes);
  };

  return {
    all: () => Object.fromEntries(known),
    ended: async ({ loop, row }) => {
      const breaker = known.get(loop);
      const output = outputOf(row);
      const run = row.id;
      const task = inputOf(row).task.key;
      const failure = classifyFailure({ exit: output.exit, attempts: attemptsOf(row) });
      if (failure === undefined) {
        const isOver = output.exit.exit === 'goal-met' || output.exit.exit === 'nothing-to-do';
        if (breaker !== undefined) await set(loop, isOver ? breakerAfterSuccess() : abandonProbe(breaker, run, clock()));
        return;
      }
      const change = breakerAfterFailure(breaker ?? breakerAfterSuccess(), { loop, task, run, failure }, clock());
      await set(loop, change.breaker, change.notice);
    },
    probe: async (loop, run) => {
      const breaker = known.get(loop);
      if (breaker !== undefined) await set(loop, beginProbe(breaker, run));
    },
    close: async (loop) => {
      if (known.has(loop)) await set(loop, breakerAfterSuccess());
    },
  };
};
