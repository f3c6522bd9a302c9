// One simulation as it is handed to a worker, and how a person replays it.
import { type CrashPoint, crashPoints } from './crash.ts';
import type { Sabotage } from './sabotage.ts';
import { simulate } from './simulate.ts';

export interface Job {
  readonly seed: number;
  readonly crash?: { readonly point: CrashPoint; readonly count: number } | 'never';
  readonly sabotage?: Sabotage;
}

export const replayCommand = ({ seed, crash, sabotage }: Job): string =>
  [
    `npm run sim -- --seed ${seed}`,
    ...(crash === undefined ? [] : [crash === 'never' ? '--crash never' : `--crash ${crash.point}:${crash.count}`]),
    ...(sabotage === undefined ? [] : [`--sabotage ${sabotage}`]),
  ].join(' ');

/** Every way in which one crash can happen to a base world. */
export const everyCrashOf = async (seed: number): Promise<readonly Job[]> => {
  const { passed } = await simulate({ seed, crash: 'never' });
  return crashPoints.flatMap((point) =>
    Array.from({ length: passed[point] }, (_, index): Job => ({ seed, crash: { point, count: index + 1 } })),
  );
};
