// Drives one world: lets everything happen that needs no time, leaps to the next timer, and starts the engine again after each death.
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import type { Accuse } from './invariants.ts';
import type { Life } from './life.ts';

/** Turns of the event loop in which nothing happened, until time may go on. */
const quietTurns = 3;
/** Above this the program works without time going on: it runs in a circle. */
const turnsMax = 20_000;
/** Failed starts in the calm, after which an engine is given up. */
const failedStartsMax = 5;

export interface Driver {
  readonly life: () => Life | undefined;
  readonly lives: () => number;
  readonly settle: () => Promise<boolean>;
  /** Time goes on until then. @returns false when it stood still, or the engine does not come up any more */
  readonly runUntil: (isOver: () => boolean) => Promise<boolean>;
  /** Time goes on until it is done, also when it failed, or the engine has died over it. */
  readonly finish: (work: Promise<unknown> | undefined) => Promise<void>;
}

export const createDriver = (parts: {
  readonly clock: Clock;
  /** Grows with everything that happens. */
  readonly activity: () => number;
  readonly start: () => Life;
  /** How long the engine is down before its n-th life. */
  readonly downMs: (life: number) => number;
  readonly isCalm: () => boolean;
  readonly accuse: Accuse;
}): Driver => {
  const { clock, activity, start, downMs, isCalm, accuse } = parts;
  let life: Life | undefined;
  let lives = 0;
  let isDown = false;
  let failedStarts = 0;

  const settle = async (): Promise<boolean> => {
    let quiet = 0;
    for (let turns = 0; quiet < quietTurns; turns += 1) {
      if (turns > turnsMax) return false;
      const before = activity();
      await turn();
      quiet = activity() === before ? quiet + 1 : 0;
    }
    return true;
  };

  const bringUp = (): void => {
    isDown = true;
    lives += 1;
    clock.world.after(downMs(lives), () => {
      isDown = false;
      life = start();
    });
  };

  const runUntil = async (isOver: () => boolean): Promise<boolean> => {
    for (;;) {
      if (!(await settle())) {
        accuse('INV-09', 'The engine works on and on without time going on.');
        return false;
      }
      if (isOver()) return true;
      if (!isDown && life?.isAlive() !== true) {
        if (isCalm() && life?.problem() !== undefined) failedStarts += 1;
        if (failedStarts > failedStartsMax) return false;
        bringUp();
      }
      if (!clock.leap()) return false;
    }
  };

  return {
    life: () => life,
    lives: () => lives,
    settle,
    runUntil,
    finish: async (work) => {
      let isDone = work === undefined;
      void Promise.allSettled([work]).finally(() => {
        isDone = true;
      });
      const worker = life;
      await runUntil(() => isDone || worker?.isAlive() !== true);
    },
  };
};
