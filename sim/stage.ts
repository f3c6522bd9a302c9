// What the fakes of one life stand on: every effect on the world goes through `effect`, which is where the engine may die. The fakes of a
// dead life never answer, so that what is left of a dead engine in memory can do no harm, as after a real crash.
import type { Clock } from './clock.ts';
import type { CrashPlan } from './crash.ts';
import type { Trace } from './trace.ts';

export interface Stage {
  readonly clock: Clock;
  readonly trace: Trace;
  isAlive(): boolean;
  /** Something that is seen from outside. `act` does it at once; what it gives comes back unless the engine dies before or after. */
  effect<T>(name: string, act: () => T): Promise<T>;
  /** A look at the world: not a point to die at. */
  look<T>(read: () => T): Promise<T>;
  /** Time that passes in an effect. */
  pause(ms: number): Promise<void>;
}

export interface StageParts {
  readonly clock: Clock;
  readonly trace: Trace;
  readonly crash: CrashPlan;
  readonly isAlive: () => boolean;
  readonly die: (why: string) => void;
  readonly count: () => void;
}

/** What a dead engine waits for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});

export const createStage = ({ clock, trace, crash, isAlive, die, count }: StageParts): Stage => {
  const timers = clock.timersOf(isAlive);
  const diesAt = (point: 'before-effect' | 'after-effect', name: string): boolean => {
    if (!crash.asks(point)) return false;
    die(`${point} ${name}`);
    return true;
  };
  return {
    clock,
    trace,
    isAlive,
    effect: async (name, act) => {
      if (!isAlive() || diesAt('before-effect', name)) return never();
      count();
      const value = act();
      return diesAt('after-effect', name) ? never() : value;
    },
    look: async (read) => (isAlive() ? read() : never()),
    pause: (ms) => new Promise((resolve) => void timers.after(ms, resolve)),
  };
};
