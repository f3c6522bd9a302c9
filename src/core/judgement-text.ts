// Words and evidence of a judgement, shared by the files that judge.
import { testsOf } from './baseline-status.ts';
import { cutMiddle } from './text.ts';
import type { CheckObservation } from './verdict.ts';

/** Most letters of failure text that one reason hands to the next attempt. */
export const evidenceLetters = 8_000;
/** Most test ids that one sentence names. */
const idsInSentence = 5;

export const times = (count: number, of: number): string => `${count} of ${of} runs`;

export const named = (ids: readonly string[]): string => {
  const shown = ids.slice(0, idsInSentence).map((id) => `"${id}"`);
  return ids.length > idsInSentence ? `${shown.join(', ')} and ${ids.length - idsInSentence} more` : shown.join(', ');
};

/** Cuts, and takes out the folder of the clean room, which is gone by the time anybody reads this. */
export const evidenceOf = (observation: CheckObservation, text: string): string =>
  cutMiddle(observation.cwd === '' ? text : text.replaceAll(`${observation.cwd}/`, ''), evidenceLetters);

/** What the named tests say of their failure, or the whole output where they say nothing. */
export const failureTexts = (observation: CheckObservation, ids: readonly string[]): string => {
  const wanted = new Set(ids);
  const texts = testsOf(observation)
    .filter((test) => wanted.has(test.id) && test.message !== '')
    .map((test) => `${test.id}\n${test.message}`);
  return evidenceOf(observation, texts.length === 0 ? observation.output : texts.join('\n\n'));
};
