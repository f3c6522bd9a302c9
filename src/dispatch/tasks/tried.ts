import { addSpend, spendText } from '../../core/spend.ts';
import { cutMiddle, oneLine } from '../../core/text.ts';
import type { TaskRecord, Tried } from './port.ts';

/** Runs that are remembered one by one, and letters of each. */
const triedMax = 10;
const summaryLetters = 400;

/** The record with one more run. Pure. The oldest gives way; its spend stays counted. */
export const addTried = (record: TaskRecord, tried: Tried): TaskRecord => ({
  ...record,
  tried: [...record.tried, { ...tried, summary: oneLine(tried.summary, summaryLetters) }].slice(-triedMax),
  runs: record.runs + 1,
  spend: addSpend([record.spend, tried.spend]),
});

const lineOf = (tried: Tried): string =>
  `- ${new Date(tried.at).toISOString().slice(0, 10)}, ${tried.attempts} attempt${tried.attempts === 1 ? '' : 's'}, ${tried.exit}: ${tried.summary}`;

/**
 * What earlier runs tried, for the prompt of the next one; empty where there were none. Pure.
 * The summaries repeat what agents and checks printed: put it into a prompt as fenced data, never as an instruction (L12).
 * @param letters most letters of the whole
 */
export const triedText = (record: TaskRecord, letters = 4_000): string => {
  if (record.runs === 0) return '';
  const earlier = record.runs - record.tried.length;
  const lines = [
    `This task was tried in ${record.runs} earlier run${record.runs === 1 ? '' : 's'} (${spendText(record.spend)}).`,
    ...(record.reopened > 0
      ? [`It came back ${record.reopened === 1 ? 'once' : `${record.reopened} times`} after it had been done or closed.`]
      : []),
    ...(earlier > 0 ? [`- ${earlier} older run${earlier === 1 ? '' : 's'} left out`] : []),
    ...record.tried.map(lineOf),
  ];
  return cutMiddle(lines.join('\n'), letters);
};
