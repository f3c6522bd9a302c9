import { Fault } from '../core/fault.ts';
import { canonicalJson } from './chain.ts';

/** Most bytes (UTF-8) of one input, outcome, output or fact. Larger things belong in a blob; the journal holds their hash. */
export const payloadBytesMax = 256 * 1024;

/**
 * Writes a value as JSON, keeping the order of its keys.
 * @param what names the value in the error: `The outcome of step "build"`
 * @returns `undefined` for `undefined`, so that a step without a result gives none back
 * @throws Fault PAYLOAD_NOT_JSON, PAYLOAD_TOO_LARGE
 */
export const encodeJson = (value: unknown, what: string): string | undefined => {
  if (value === undefined) return undefined;
  let text: string | undefined;
  let problem: unknown;
  try {
    text = JSON.stringify(value);
    // Also proves that the value can be put into the chain: canonical writing needs a little more stack than plain writing.
    if (text !== undefined) canonicalJson(JSON.parse(text));
  } catch (error) {
    problem = error;
  }
  if (text === undefined || problem !== undefined) {
    throw new Fault('PAYLOAD_NOT_JSON', `${what} cannot be written as JSON.`, {
      hint: 'Return plain JSON: no functions, no BigInt, no cycles.',
      cause: problem,
    });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > payloadBytesMax) {
    throw new Fault('PAYLOAD_TOO_LARGE', `${what} takes ${bytes} bytes; the journal keeps at most ${payloadBytesMax}.`, {
      hint: 'Store it as a blob and keep its hash.',
      data: { bytes, bytesMax: payloadBytesMax },
    });
  }
  return text;
};

/** The reverse of `encodeJson`. */
export const decodeJson = (text: string | undefined): unknown => (text === undefined ? undefined : (JSON.parse(text) as unknown));
