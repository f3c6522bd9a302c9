import { Rejection } from '../core/fault.ts';
import type { AttemptView } from '../loop/index.ts';

/** The attempt a person asked for by number, or the last one. */
export const pickAttempt = (attempts: readonly AttemptView[], text: string | undefined): AttemptView => {
  if (attempts.length === 0) throw new Rejection('The run has no finished attempt yet.');
  const wanted = text === undefined ? attempts.length : Number(text);
  const attempt = attempts[wanted - 1];
  if (attempt === undefined) throw new Rejection(`There is no attempt ${text ?? ''}: the run has ${attempts.length}.`);
  return attempt;
};
