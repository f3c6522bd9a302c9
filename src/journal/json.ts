import { Fault } from '../core/fault.ts';
import { canonicalJson } from './chain.ts';

/** Most bytes (UTF-8) of one value that the journal itself holds. */
export const inlineBytesMax = 256 * 1024;

/**
 * Writes a value as JSON, keeping the order of its keys.
 * @param what names the value in the error: `The outcome of step "build"`
 * @returns `undefined` for `undefined`, so that a step without a result gives none back
 * @throws Fault PAYLOAD_NOT_JSON
 */
export const jsonText = (value: unknown, what: string): string | undefined => {
  if (value === undefined) return undefined;
  let text: string | undefined;
  let problem: unknown;
  try {
    text = JSON.stringify(value);
    // Also proves that the value can be put into the chain: canonical writing needs a little more stack than plain writing.
    if (text !== undefined && typeof value === 'object') canonicalJson(JSON.parse(text));
  } catch (error) {
    problem = error;
  }
  if (text !== undefined && problem === undefined) return text;
  throw new Fault('PAYLOAD_NOT_JSON', `${what} cannot be written as JSON.`, {
    hint: 'Return plain JSON: no functions, no BigInt, no cycles.',
    cause: problem,
  });
};

/** `jsonText` for what must fit into the journal itself. @throws Fault PAYLOAD_NOT_JSON, PAYLOAD_TOO_LARGE */
export const encodeJson = (value: unknown, what: string): string | undefined => {
  const text = jsonText(value, what);
  const bytes = text === undefined ? 0 : Buffer.byteLength(text);
  if (bytes <= inlineBytesMax) return text;
  throw new Fault('PAYLOAD_TOO_LARGE', `${what} takes ${bytes} bytes; the journal keeps at most ${inlineBytesMax}.`, {
    hint: 'Store it as a blob and keep its hash.',
    data: { bytes, bytesMax: inlineBytesMax },
  });
};

/** The reverse of `encodeJson`. */
export const decodeJson = (text: string | undefined): unknown => (text === undefined ? undefined : (JSON.parse(text) as unknown));
