import path from 'node:path';
import { CancelledError, type JournalReader, requestCancel, requestStart } from '../journal/index.ts';
import { interrupted, type TickInput, tickHandler } from '../loop/index.ts';
import { createEvidenceStore } from '../verify/index.ts';
import { followRun } from './follow-run.ts';
import { manualTickId } from './manual-tick.ts';
import type { Place } from './place.ts';
import { type TickReport, tickReportOf } from './tick-report.ts';

/**
 * Asks the daemon for a tick and tells what it does until it has ended. The first Ctrl-C cancels the tick and waits for its orderly end;
 * a second one only stops the telling.
 */
export const tickByDaemon = async (request: {
  readonly place: Place;
  readonly reader: JournalReader;
  readonly input: TickInput;
  readonly print: (text: string) => void;
}): Promise<TickReport> => {
  const { place, reader, input, print } = request;
  const id = manualTickId(input.loop.name);
  requestStart(place.stateHome, { handler: tickHandler.name, version: tickHandler.version, input, id, dedupeKey: id });
  const leaving = new AbortController();
  let asked = 0;
  const onSignal = (): void => {
    asked += 1;
    if (asked > 1) leaving.abort();
    else {
      process.stderr.write(
        'Stopping this tick: its agents and checks are being ended, work is kept. Once more to leave it to the daemon.\n',
      );
      requestCancel(place.stateHome, id, interrupted);
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const row = await followRun({ reader, run: id, print, signal: leaving.signal });
    if (row === undefined) throw new CancelledError(interrupted);
    return await tickReportOf(row, createEvidenceStore(path.join(place.stateHome, 'evidence')));
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
};
