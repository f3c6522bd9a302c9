import { parseDuration, type Settings } from '../config/index.ts';
import { Rejection } from '../core/fault.ts';
import { drainPolicies, type DrainPolicy } from '../server/index.ts';

export interface DrainOptions {
  readonly drain?: string;
  readonly time?: string;
}

export interface Drain {
  readonly policy: DrainPolicy;
  /** Most time that `finish` may take. */
  readonly timeMs: number;
}

/**
 * How a daemon is to end: by `--drain` and `--time`, else by gyre.yaml.
 * @throws Rejection for a word that is no policy, or a text that is no duration
 */
export const drainOf = ({ drain, time }: DrainOptions, { server }: Settings): Drain => {
  const policy = drain === undefined ? server.drain : drainPolicies.find((known) => known === drain);
  if (policy === undefined) throw new Rejection(`--drain: found ${drain?.slice(0, 40)}, wanted one of ${drainPolicies.join(', ')}.`);
  const timeMs = time === undefined ? server.drainMs : parseDuration(time);
  if (timeMs === undefined) throw new Rejection(`--time: found ${time?.slice(0, 40)}, wanted a duration such as 90s or 10m.`);
  return { policy, timeMs };
};
