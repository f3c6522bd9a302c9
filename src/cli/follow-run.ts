import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '../core/fault.ts';
import type { JournalReader, RunRow } from '../journal/index.ts';
import { type Progress, progressStream } from './progress.ts';

const pollMs = 150;

/**
 * Tells what a run (of a tick or a task) in another process does, line by line, until it has ended.
 * @param request `print` gets one line; `signal` ends the following (not the tick)
 * @throws Fault ENGINE_GONE when the engine died while it was followed, RUN_NEEDS_PERSON when it stands still until somebody decided
 */
export const followRun = async (request: {
  readonly reader: JournalReader;
  readonly run: string;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
  /** What was told before is not told again. */
  readonly afterSeq?: number;
  /** The generation to wait for: an ended run that is opened again still shows its last end until then. */
  readonly generation?: number;
}): Promise<RunRow | undefined> => {
  const { reader, run: followed, print, signal, afterSeq = 0, generation = 1 } = request;
  const seen = new Map<string, number>([[followed, afterSeq]]);

  const tellNew = (): void => {
    // A run that is named by one entry is read in the same look, so that its end is not told after the tick's.
    for (let [...runs] = seen.keys(), at = 0; at < runs.length; at += 1) {
      const run = runs[at] ?? '';
      for (const entry of reader.stream(run, progressStream, seen.get(run) ?? 0)) {
        seen.set(run, entry.seq);
        const progress = entry.event as Progress;
        for (const text of progress.lines) print(text);
        if (progress.run !== undefined && !seen.has(progress.run)) {
          seen.set(progress.run, 0);
          runs.push(progress.run);
        }
      }
    }
  };

  while (!signal.aborted) {
    const row = reader.run(followed);
    tellNew();
    if (row?.endedAt !== undefined && row.generation >= generation) return row;
    if (row?.attention !== undefined) throw new Fault('RUN_NEEDS_PERSON', `Run ${row.id} needs a person: ${row.attention.message}`);
    if (reader.owner()?.alive !== true)
      throw new Fault('ENGINE_GONE', 'The engine that worked on this has died.', {
        hint: 'Nothing that was recorded is lost: start it again with gyre up, or go on with gyre run.',
      });
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
};
