// Chance that can be replayed: every draw follows from the seed and the name of the stream it is drawn from.
import { fnv1a } from '../src/core/trigger.ts';

export interface Chance {
  /** In [0, 1). */
  readonly next: () => number;
  /** A whole number in [from, to]. */
  between(from: number, to: number): number;
  /** True with this probability. */
  happens(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** A stream of its own: what is drawn here does not move what is drawn there. */
  fork(name: string): Chance;
}

/** Mulberry32 (T. Ettinger, public domain): 32 bits of state, good enough to spread crashes. */
const mulberry = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

export const createChance = (seed: number, name = ''): Chance => {
  const draw = mulberry(fnv1a(`${seed}/${name}`));
  const between = (from: number, to: number): number => from + Math.floor(draw() * (to - from + 1));
  return {
    next: draw,
    between,
    happens: (probability) => draw() < probability,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    fork: (inner) => createChance(seed, `${name}/${inner}`),
  };
};
