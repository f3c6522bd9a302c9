import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../src/agent/line-splitter.ts';
import type { StreamLine } from '../../src/agent/line-splitter.ts';

/** All lines of a stream that is cut at the given places. */
const linesOf = (bytes: Uint8Array, cuts: readonly number[], lineBytes?: number): readonly StreamLine[] => {
  const splitter = new LineSplitter(lineBytes);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  const lines = places.slice(1).flatMap((to, i) => splitter.push(bytes.subarray(places[i], to)));
  return [...lines, ...splitter.end()];
};

describe('lines of a byte stream', () => {
  it('OUT-01 the lines are the same however the stream is cut', () => {
    const text = fc.array(fc.string({ unit: 'binary' }).map((line) => line.replaceAll('\n', '')));
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 20 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
        expect(linesOf(bytes, cuts)).toEqual(linesOf(bytes, []));
        expect(linesOf(bytes, cuts)).toHaveLength(lines.length);
      }),
    );
  });

  it('OUT-05 bytes that are no UTF-8 give as many lines as there are line feeds, and never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(), { maxLength: 9 }), (bytes, cuts) => {
        const feeds = bytes.filter((byte) => byte === 0x0a).length;
        const rest = bytes.length > 0 && bytes.at(-1) !== 0x0a ? 1 : 0;
        expect(linesOf(bytes, cuts)).toHaveLength(feeds + rest);
      }),
    );
  });

  it('AGT-14 a line of the limit is kept, one byte more is skipped with its size', () => {
    const text = Buffer.from('12345678\n123456789\nab\r\nend');
    expect(linesOf(text, [3, 12], 8)).toEqual([
      { kind: 'line', text: '12345678' },
      { kind: 'skipped', bytes: 9 },
      { kind: 'line', text: 'ab' },
      { kind: 'line', text: 'end' },
    ]);
  });
});
