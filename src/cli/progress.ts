// What a run tells while it works, kept in the journal's stream `progress`, so that a command in another process can follow it.
import type { RunContext } from '../journal/index.ts';
import type { TickEvent, TickReporter } from '../loop/index.ts';
import { tickLines } from './tick-lines.ts';

export const progressStream = 'progress';

export interface Progress {
  readonly lines: readonly string[];
  /** A run that was started or gone on with: its own stream goes on from here. */
  readonly run?: string;
}

/** @param tell gets every event as it happens, in this process */
export const progressReporter =
  (tell: (event: TickEvent) => void): TickReporter =>
  (context: RunContext) =>
  (event) => {
    tell(event);
    const lines = tickLines(event);
    const entry: Progress = event.event === 'run-started' ? { lines, run: event.run } : { lines };
    context.emit(progressStream, entry);
  };
