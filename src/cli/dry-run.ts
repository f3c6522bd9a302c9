import { exitCodes } from '../core/exit.ts';
import { openReader, type JournalReader } from '../journal/index.ts';
import { planTick, type TickInput } from '../loop/index.ts';
import { createTools, freeProcesses } from './compose.ts';
import type { Place } from './place.ts';
import { tickLines } from './tick-lines.ts';
import type { TickReport } from './tick-report.ts';

/** Nothing was ever run here: there is nothing to compare with. */
const emptyHistory: Pick<JournalReader, 'runs' | 'registerEntry'> = { runs: () => [], registerEntry: () => undefined };

/** Says what a tick would do: discovers and decides, and owns nothing, so that it works beside a running engine. */
export const dryRun = async (request: {
  readonly place: Place;
  readonly input: TickInput;
  readonly print: (text: string) => void;
}): Promise<TickReport> => {
  const { place, input, print } = request;
  const { loop, prefix } = input;
  const tools = createTools({ place, env: process.env });
  const stopping = new AbortController();
  const onSignal = (): void => stopping.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const reader = openReader(place.stateHome);
  try {
    const base = await tools.resolveBase(loop.land.target);
    const begun = tools.clock();
    const run = freeProcesses({ processes: tools.processes, stateHome: place.stateHome, signal: stopping.signal });
    const discovery = await tools.discoverer.discover({ loop, base, prefix, run });
    tickLines({ event: 'discovered', discovery, ms: tools.clock() - begun }).forEach(print);
    const planned = await planTick(
      { ...tools, reader: reader ?? emptyHistory },
      { loop, base, discovery, byPerson: true, records: new Map(), back: new Set() },
    );
    for (const plan of planned) if (plan.admit === 'skip') tickLines({ event: 'skipped', task: plan.task, why: plan.why }).forEach(print);
    return { base, discovery, planned, runs: [], halted: undefined, exitCode: discovery.problems.length > 0 ? exitCodes.usage : 0 };
  } finally {
    reader?.[Symbol.dispose]();
    for (const signal of signals) process.off(signal, onSignal);
  }
};
