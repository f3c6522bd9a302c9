// `limits:` of gyre.yaml: how much of the machine and of the providers the loops of a repository take together.
import { z } from 'zod';
import { count, duration, keys, size } from './schema-parts.ts';

export const runsDefault = 64;
/** Below this much free memory nothing is started: an agent takes some hundred megabytes, and a machine that swaps stops for everybody. */
export const freeMemoryDefault = '256mb';

const counted = (description: string, wanted: string) =>
  z
    .record(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'a name of letters, digits, dots and dashes' }),
      count(1, 10_000, { description }),
      {
        error: wanted,
      },
    )
    .meta({ description });

export const limitsKeys = keys(
  {
    runs: count(1, 10_000, { description: 'Runs at once, all loops together.', default: runsDefault }).optional(),
    agents: counted('Runs at once of an agent.', 'a map of agents, such as claude: 2').optional(),
    providers: counted('Runs at once on a provider.', 'a map of providers, such as anthropic: 4').optional(),
    shares: counted('Weight of a loop where several wait; 1 where missing.', 'a map of loops, such as fix-tests: 2').optional(),
    gap: duration({ description: 'Least time between two starts. Default: none.' }).optional(),
    'starts-per-minute': count(1, 10_000, { description: 'Starts within any minute. Default: no limit.' }).optional(),
    load: count(1, 1_000, {
      description: 'Load of the machine, a processor, above which nothing is started. Default: no limit.',
    }).optional(),
    'free-memory': size({ description: 'Free memory below which nothing is started.', default: freeMemoryDefault }).optional(),
  },
  'a map with runs, agents, providers, shares, gap, starts-per-minute, load or free-memory',
  { description: 'How much all loops of the repository take together.' },
);
