// INV-11 and INV-12: the schedule's books against every window there was, counted again from the trigger alone.
import { epochMs, type EpochMs } from '../src/core/ids.ts';
import type { LoopDefinition } from '../src/core/loop-definition.ts';
import { isTimeTrigger, type TimeTrigger } from '../src/core/trigger.ts';
import type { JournalReader } from '../src/journal/index.ts';
import { tickHandler } from '../src/loop/read.ts';
import { type TriggerState, type WindowRecord, windowTimes } from '../src/schedule/index.ts';
import type { Accuse } from './invariants.ts';

/** More windows than any seed has. */
const windowsMax = 10_000;

interface Books {
  readonly reader: JournalReader;
  readonly loops: readonly LoopDefinition[];
  readonly now: EpochMs;
  readonly accuse: Accuse;
}

const iso = (at: number): string => new Date(at).toISOString();

const checkTrigger = ({ reader, now, accuse }: Books, loop: string, trigger: TimeTrigger): void => {
  const key = `${loop}/${trigger.id}`;
  const state = reader.registerEntry('triggers', key)?.value as TriggerState | undefined;
  if (state === undefined) {
    accuse('INV-11', `Nothing is known of the trigger ${key}.`);
    return;
  }
  const records = reader
    .register('windows', { prefix: `${key}/` })
    .map((entry) => ({ key: entry.key, record: entry.value as WindowRecord }));
  const times = windowTimes(trigger);
  const { newest } = times.between(state.since, epochMs(Math.max(now, state.accountedUntil)), windowsMax);
  for (const at of newest) {
    const ends = records.filter(({ record }) => record.from <= at && at <= record.to);
    const waiting = state.pending.filter(({ window }) => window.at === at).length;
    const isDue = at + trigger.jitterMs + 1_000 < now;
    const count = ends.length + waiting;
    if (count > 1 || (count === 0 && (isDue || at <= state.accountedUntil)))
      accuse(
        'INV-11',
        `The window ${key}/${iso(at)} has ${ends.length} ends and ${waiting} places in waiting (accounted until ${iso(state.accountedUntil)}).`,
      );
    const isFired = ends.some(({ record }) => record.end === 'fired');
    const id = `${key}/${iso(at)}`;
    const hasTick = reader.run(id) !== undefined;
    if (isFired !== hasTick && state.starting?.id !== id)
      accuse('INV-12', `The window ${id} ${isFired ? 'has fired, and there is no tick' : 'has not fired, and there is a tick'}.`);
  }
};

export const checkWindows = (books: Books): void => {
  const { reader, loops, accuse } = books;
  for (const { name, triggers } of loops) for (const trigger of triggers) if (isTimeTrigger(trigger)) checkTrigger(books, name, trigger);
  // The other way round: no tick without a window that fired.
  const waking = /^[^/]+\/wake\//;
  for (const { id } of reader.runs()) {
    const row = reader.run(id);
    if (row?.loop !== tickHandler.name || waking.test(id)) continue;
    const record = reader.registerEntry('windows', id)?.value as WindowRecord | undefined;
    const [loop, trigger] = id.split('/');
    const state = reader.registerEntry('triggers', `${loop}/${trigger}`)?.value as TriggerState | undefined;
    if (record?.end !== 'fired' && state?.starting?.id !== id)
      accuse('INV-12', `The tick ${id} runs for a window that ${record?.end ?? 'nobody knows'}.`);
  }
};
