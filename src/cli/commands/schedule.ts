import { Rejection } from '../../core/fault.ts';
import { epochMs } from '../../core/ids.ts';
import { oneLine } from '../../core/text.ts';
import { describeSchedule, localText, type TriggerDescription } from '../../schedule/read.ts';
import type { WindowRecord } from '../../schedule/index.ts';
import { loadLoops } from '../load-loops.ts';
import { configOf } from '../loop-choice.ts';
import { readJournal } from '../place.ts';
import { line, printJson } from '../print.ts';
import { registersOf } from '../registers.ts';

export interface ScheduleOptions {
  readonly last: string;
  readonly next: string;
  readonly json?: boolean;
}

const shownMax = 1_000;

const countOf = (name: string, text: string): number => {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > shownMax)
    throw new Rejection(`--${name}: found ${text.slice(0, 40)}, wanted a whole number from 0 to ${shownMax}.`);
  return count;
};

export const schedule = async (loop: string | undefined, options: ScheduleOptions): Promise<void> => {
  const pastCount = countOf('last', options.last);
  const nextCount = countOf('next', options.next);
  const { place, reader } = await readJournal();
  const loops = (await loadLoops(configOf(place))).map((loaded) => loaded.definition);
  const chosen = loop === undefined ? loops : loops.filter((one) => one.name === loop);
  if (loop !== undefined && chosen.length === 0)
    throw new Rejection(`There is no loop ${loop.slice(0, 100)} here.`, {
      hint: `Known loops: ${loops.map((one) => one.name).join(', ')}`,
    });
  const described = describeSchedule({ loops: chosen, registers: registersOf(reader), pastCount, nextCount }, epochMs(Date.now()));
  if (options.json === true) {
    printJson({ loops: described });
    return;
  }
  for (const trigger of described) tell(trigger);
  if (described.length === 0) line('There is no loop here.');
};

const tell = (described: TriggerDescription): void => {
  const { trigger, text, past, waiting, next, unseen, alarm } = described;
  const zone = trigger.on === 'schedule' ? trigger.timezone : undefined;
  line(`${described.loop}: ${text}`);
  if (alarm !== undefined) line(`  ! ${alarm}`);
  for (const record of past) line(`  ${record.end.padEnd(10)} ${whenText(record, zone)}: ${oneLine(record.reason, 200)}`);
  for (const window of waiting) line(`  waiting    ${oneLine(window, 200)}`);
  if (unseen > 0) line(`  ${unseen} windows have passed that nobody has looked at: gyre up does.`);
  for (const one of next) line(`  next       ${one.local}`);
};

const whenText = (record: WindowRecord, zone: string | undefined): string => {
  const at = (instant: typeof record.from): string => (zone === undefined ? new Date(instant).toISOString() : localText(zone, instant));
  return record.count === 1 ? at(record.from) : `${record.count} windows from ${at(record.from)} to ${at(record.to)}`;
};
