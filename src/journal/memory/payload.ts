// Values as JSON text. In memory nothing is too large; in the facts a large value is named by its digest, as on disk.
import { createHash } from 'node:crypto';
import { Fault } from '../../core/fault.ts';
import { canonicalJson } from '../chain.ts';

const inlineBytesMax = 256 * 1024;

/** @param what names the value in the error. @throws Fault PAYLOAD_NOT_JSON */
export const toText = (value: unknown, what: string): string | undefined => {
  if (value === undefined) return undefined;
  let problem: unknown;
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) {
      canonicalJson(JSON.parse(text));
      return text;
    }
  } catch (error) {
    problem = error;
  }
  throw new Fault('PAYLOAD_NOT_JSON', `${what} cannot be written as JSON.`, {
    hint: 'Return plain JSON: no functions, no BigInt, no cycles.',
    cause: problem,
  });
};

export const fromText = (text: string | undefined): unknown => (text === undefined ? undefined : (JSON.parse(text) as unknown));

/** A value, given as its text, as a fact holds it. */
export const inFact = (text: string | undefined): unknown => {
  const bytes = Buffer.byteLength(text ?? '');
  if (text === undefined || bytes <= inlineBytesMax) return fromText(text);
  return { $blob: createHash('sha256').update(text).digest('hex'), bytes };
};

/** The same for a value that was JSON before. */
export const valueInFact = (value: unknown): unknown => inFact(JSON.stringify(value));
