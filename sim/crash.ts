// Where the engine dies. Every journal commit and every effect is a point at which it may, before and after.
import type { Chance } from './chance.ts';

export const crashPoints = ['before-commit', 'after-commit', 'before-effect', 'after-effect'] as const;

export type CrashPoint = (typeof crashPoints)[number];

/** Counts the points it is asked about, each kind from 1. */
export interface CrashPlan {
  /** @returns true: the engine dies here */
  asks(point: CrashPoint): boolean;
  /** How often each kind of point was passed. */
  readonly passed: Readonly<Record<CrashPoint, number>>;
  /** How often the engine died at each. */
  readonly died: Readonly<Record<CrashPoint, number>>;
}

const planOf = (decide: (point: CrashPoint, count: number) => boolean): CrashPlan => {
  const passed = { 'before-commit': 0, 'after-commit': 0, 'before-effect': 0, 'after-effect': 0 };
  const died = { 'before-commit': 0, 'after-commit': 0, 'before-effect': 0, 'after-effect': 0 };
  return {
    passed,
    died,
    asks: (point) => {
      passed[point] += 1;
      const isEnd = decide(point, passed[point]);
      if (isEnd) died[point] += 1;
      return isEnd;
    },
  };
};

export const neverCrash = (): CrashPlan => planOf(() => false);

/** At the n-th point of one kind, counted from 1, and nowhere else. */
export const crashOnce = (at: { readonly point: CrashPoint; readonly count: number }): CrashPlan =>
  planOf((point, count) => point === at.point && count === at.count);

/**
 * At any point with this probability, until the calm begins. A crash makes another one likelier for a while: what runs after a crash is
 * where the mistakes are.
 */
export const crashByChance = (
  chance: Chance,
  { probability, isCalm }: { readonly probability: number; readonly isCalm: () => boolean },
): CrashPlan => {
  let hot = 0;
  return planOf(() => {
    if (isCalm()) return false;
    hot = Math.max(0, hot - 1);
    const isEnd = chance.happens(hot > 0 ? Math.min(0.2, probability * 6) : probability);
    if (isEnd) hot = 12;
    return isEnd;
  });
};
