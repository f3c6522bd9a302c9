import { Defect, Fault, Rejection } from '../core/fault.ts';
import { cutMiddle } from '../core/text.ts';

/** An error as the journal keeps it. */
export interface ErrorRecord {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

const messageLettersMax = 4_000;

const codeOf = (error: Error): string => {
  if (error instanceof Fault) return error.code;
  if (error instanceof Defect) return 'DEFECT';
  if (error instanceof Rejection) return 'REJECTION';
  return 'code' in error && typeof error.code === 'string' && error.code !== '' ? error.code : error.name;
};

/** Code and message of whatever was thrown, cut to 4,000 letters; never fails. */
export const errorRecord = (thrown: unknown): ErrorRecord => {
  if (!(thrown instanceof Error)) return { code: 'THROWN', message: cutMiddle(String(thrown).toWellFormed(), messageLettersMax) };
  const hint = thrown instanceof Fault || thrown instanceof Rejection ? thrown.hint : undefined;
  const message = cutMiddle(thrown.message.toWellFormed(), messageLettersMax);
  return { code: codeOf(thrown), message, ...(hint === undefined ? {} : { hint: cutMiddle(hint.toWellFormed(), messageLettersMax) }) };
};

/** The recorded error as the handler sees it, the same on the first execution and on every replay. */
export const faultOfRecord = (record: ErrorRecord, cause?: unknown): Fault =>
  new Fault(record.code, record.message, {
    ...(record.hint === undefined ? {} : { hint: record.hint }),
    ...(cause === undefined ? {} : { cause }),
  });
