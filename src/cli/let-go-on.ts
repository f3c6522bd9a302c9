import { setTimeout as delay } from 'node:timers/promises';
import { Rejection } from '../core/fault.ts';
import { type JournalReader, type RunRow, requestState } from '../journal/index.ts';

/** Parked until a person decided: whatever goes on with them would be parked again for the same reason. */
const undecided: ReadonlyMap<string, string> = new Map([
  ['STEP_UNKNOWN', 'Look whether it happened'],
  ['HISTORY_FULL', 'It cannot grow any further'],
  ['VERSION_UNSUPPORTED', 'The version of Gyre that began it goes on with it as it is'],
]);

/** Whether a run stands still until somebody says that it goes on. */
export const standsStill = ({ state }: Pick<RunRow, 'state'>): boolean => state === 'paused' || state === 'needs-attention';

/** @throws Rejection that says how to decide it, for a run that going on would not help */
export const refuseUndecided = ({ id, attention }: Pick<RunRow, 'id' | 'attention'>): void => {
  const why = attention === undefined ? undefined : undecided.get(attention.code);
  if (attention === undefined || why === undefined) return;
  throw new Rejection(`Run ${id} needs a person: ${attention.message}`, {
    hint: `${why}; to leave that attempt behind, end it with \`gyre stop ${id}\` (its work is kept); once it has ended, \`gyre retry ${id}\` begins the next one`,
  });
};

const pollMs = 100;
const releasedMs = 30_000;

/** Asks the owner to let a run go on that stands still, and waits until it has, at most 30 s. */
export const letGoOn = async (request: {
  readonly stateHome: string;
  readonly reader: JournalReader;
  readonly run: string;
}): Promise<void> => {
  const { stateHome, reader, run } = request;
  requestState(stateHome, run, 'resume', 'gyre retry');
  for (const until = Date.now() + releasedMs; Date.now() < until; await delay(pollMs)) {
    const row = reader.run(run);
    if (row === undefined || !standsStill(row)) return;
  }
};
