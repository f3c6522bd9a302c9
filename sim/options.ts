// What people type behind `npm run sim --`.
import { parseArgs } from 'node:util';
import { type CrashPoint, crashPoints } from './crash.ts';
import { type Sabotage, sabotageNames } from './sabotage.ts';

export interface SimOptions {
  readonly seeds: number;
  readonly from: number;
  /** One seed, told line by line with `verbose`. */
  readonly seed: number | undefined;
  readonly crash: { readonly point: CrashPoint; readonly count: number } | 'never' | undefined;
  readonly sabotage: Sabotage | undefined;
  /** Base worlds in which every single crash point is tried. */
  readonly everyCrash: number;
  readonly workers: number;
  readonly json: boolean;
  readonly verbose: boolean;
}

export const usage = `npm run sim -- [--seeds 1000] [--from 1] [--seed n [--verbose] [--crash <point>:<n>|never]] [--every-crash k] [--workers n] [--json]
  --seeds n        so many seeds, from --from on
  --every-crash k  in k base worlds, one run for every point at which the engine can die (default: 2 from 1000 seeds on)
  --seed n         replays one seed
  --crash p:n      replays a base world with its one crash: ${crashPoints.join(', ')}`;

const wholeNumber = (text: string, name: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name}: found ${text}, wanted a whole number.`);
  return value;
};

const crashOf = (text: string | undefined): SimOptions['crash'] => {
  if (text === undefined || text === 'never') return text;
  const [name, count = ''] = text.split(':');
  const point = crashPoints.find((known) => known === name);
  if (point === undefined)
    throw new Error(`--crash: found ${text}, wanted ${crashPoints.join(', ')} and a number, such as after-commit:12.`);
  return { point, count: wholeNumber(count, 'crash') };
};

/** @throws Error with one sentence for what is not understood */
export const parseOptions = (args: readonly string[], processors: number): SimOptions => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      crash: { type: 'string' },
      sabotage: { type: 'string' },
      'every-crash': { type: 'string' },
      workers: { type: 'string', default: String(processors) },
      json: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const sabotage = sabotageNames.find((known) => known === values.sabotage);
  if (values.sabotage !== undefined && sabotage === undefined) throw new Error(`--sabotage: wanted one of ${sabotageNames.join(', ')}.`);
  const seeds = wholeNumber(values.seeds, 'seeds');
  return {
    seeds,
    from: wholeNumber(values.from, 'from'),
    seed: values.seed === undefined ? undefined : wholeNumber(values.seed, 'seed'),
    crash: crashOf(values.crash),
    sabotage,
    everyCrash: values['every-crash'] === undefined ? (seeds < 1_000 ? 0 : 2) : wholeNumber(values['every-crash'], 'every-crash'),
    workers: Math.max(1, wholeNumber(values.workers, 'workers')),
    json: values.json,
    verbose: values.verbose,
  };
};
