import { Rejection } from '../core/fault.ts';
import { parseDuration } from '../config/index.ts';
import { drainPolicies, type DrainPolicy } from '../server/index.ts';

/** `--drain` as a policy. */
export const drainPolicyOf = (text: string | undefined): DrainPolicy | undefined => {
  if (text === undefined) return undefined;
  const policy = drainPolicies.find((known) => known === text);
  if (policy === undefined) throw new Rejection(`--drain: found ${text.slice(0, 40)}, wanted one of ${drainPolicies.join(', ')}.`);
  return policy;
};

const defaultDrainMs = 10 * 60_000;

/** `--time` in ms: how long runs at work may go on under `finish`. */
export const drainMsOf = (text: string | undefined): number => {
  if (text === undefined) return defaultDrainMs;
  const ms = parseDuration(text);
  if (ms === undefined) throw new Rejection(`--time: found ${text.slice(0, 40)}, wanted a duration such as 90s or 10m.`);
  return ms;
};
