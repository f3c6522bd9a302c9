// `emit`: takes events at once and writes them in batches behind the handler's back. The run does not end before they are written.
import { Defect } from '../core/fault.ts';
import { assertName } from './names.ts';
import type { Scope } from './scope.ts';
import { dropNote, encodeEvent, streamLimits, trimStreams, writeEvent } from './streams.ts';

/** Most streams of one execution. */
const streamsMax = 100;
/** Events of one write, and between two looks at the limits: a run may go over them by that much. */
const batchMax = 250;
/** Most events that wait for their write; more push the oldest out, which would have been trimmed a moment later. */
const waitingMax = streamLimits.eventsMax;

interface Waiting {
  readonly stream: string;
  /** JSON text. */
  readonly event: string;
  /** How many events it stands for: more than 1 for a note. */
  readonly count: number;
}

/** Takes the oldest away and puts a note for each of their streams in their place. */
const pushOut = (waiting: readonly Waiting[], count: number): Waiting[] => {
  const gone = new Map<string, number>();
  for (const one of waiting.slice(0, count)) gone.set(one.stream, (gone.get(one.stream) ?? 0) + one.count);
  return [...[...gone].map(([stream, many]) => ({ stream, event: dropNote(many), count: many })), ...waiting.slice(count)];
};

export const createEmitter = (scope: Scope): ((stream: string, event: unknown) => void) => {
  const names = new Set<string>();
  let waiting: Waiting[] = [];
  let sinceTrim = batchMax;
  let isWriting = false;

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    try {
      while (waiting.length > 0) {
        const batch = waiting.slice(0, batchMax);
        waiting = waiting.slice(batchMax);
        const isTrimming = sinceTrim >= batchMax;
        sinceTrim = (isTrimming ? 0 : sinceTrim) + batch.length;
        await scope.store.write((transaction) => {
          for (const { stream, event } of batch) writeEvent(transaction, { run: scope.run.id, stream, event });
          if (isTrimming) trimStreams(transaction, scope.run.id);
        });
      }
    } finally {
      isWriting = false;
    }
  };

  return (stream, event) => {
    scope.assertOpen();
    assertName('The stream', stream);
    names.add(stream);
    if (names.size > streamsMax) throw new Defect(`Run ${scope.run.id} has more than ${streamsMax} streams.`);
    waiting.push({ stream, event: encodeEvent(event, stream), count: 1 });
    if (waiting.length > waitingMax) waiting = pushOut(waiting, batchMax);
    if (!isWriting) void scope.operation(writeAll);
  };
};
