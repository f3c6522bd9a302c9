import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { StreamFollower } from '../../src/process/follow.ts';
import { forgetClosing, joinStream } from '../../src/process/stream-join.ts';
import { StreamKeeper } from '../../src/process/stream-keeper.ts';
import { closingPath, cutNote, segmentPath } from '../../src/process/stream-layout.ts';
import type { StreamLayout } from '../../src/process/stream-layout.ts';

const inFolder = (look: (dir: string) => void): void => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'gyre-streams-'));
  try {
    look(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
};

const layouts = fc.record({
  headBytes: fc.integer({ min: 0, max: 30 }),
  tailBytes: fc.integer({ min: 0, max: 30 }),
  segmentBytes: fc.integer({ min: 1, max: 12 }),
});
const chunkSizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 });

/** Bytes that tell their own place. */
const streamOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => index % 251));

const follow = (dir: string, layout: StreamLayout) => {
  const parts: (Uint8Array | number)[] = [];
  const listener = { bytes: (chunk: Uint8Array) => parts.push(chunk), cut: (lost: number) => parts.push(lost) };
  const follower = new StreamFollower({ dir, name: 'stdout', layout, listener });
  /** Every byte heard must be the one of its place. */
  const check = (all: Buffer): { readonly end: number; readonly lost: number } => {
    let at = 0;
    let lost = 0;
    for (const part of parts) {
      if (typeof part === 'number') {
        at += part;
        lost += part;
      } else {
        expect(Buffer.from(part).equals(all.subarray(at, at + part.length))).toBe(true);
        at += part.length;
      }
    }
    return { end: at, lost };
  };
  return { follower, check };
};

describe('streams on disk', () => {
  test('OUT-03 for any layout and any chunks: head and tail are exact, the note tells the rest, and followers miss nothing unsaid', () => {
    fc.assert(
      fc.property(layouts, chunkSizes, fc.array(fc.boolean(), { maxLength: 12 }), (layout, sizes, looks) => {
        inFolder((dir) => {
          const all = streamOf(sizes.reduce((sum, size) => sum + size, 0));
          const keeper = new StreamKeeper({ dir, name: 'stdout', layout });
          const live = follow(dir, layout);
          const bound = layout.headBytes + layout.tailBytes + 2 * layout.segmentBytes;
          let at = 0;
          for (const [index, size] of sizes.entries()) {
            keeper.write(all.subarray(at, at + size));
            at += size;
            if (looks[index] === true) while (live.follower.pump(undefined));
            const onDisk = readdirSync(dir).reduce((sum, name) => sum + readFileSync(path.join(dir, name)).length, 0);
            expect(onDisk).toBeLessThanOrEqual(bound);
          }
          keeper.close();
          const joined = joinStream({ dir, name: 'stdout', layout, bytesSeen: keeper.bytesSeen });
          const kept = Math.min(all.length, layout.headBytes + layout.tailBytes);
          const head = all.subarray(0, Math.min(all.length, layout.headBytes));
          const tail = all.subarray(all.length - (kept - head.length));
          const note = kept < all.length ? cutNote(all.length - kept) : '';
          expect(readFileSync(path.join(dir, 'stdout.log'))).toEqual(Buffer.concat([head, Buffer.from(note), tail]));
          const late = follow(dir, layout);
          for (const { follower, check } of [live, late]) {
            while (follower.pump(joined));
            const heard = check(all);
            expect(heard.end).toBe(all.length);
            expect(heard.lost).toBeLessThanOrEqual(all.length - kept);
          }
          forgetClosing(dir);
          expect(readdirSync(dir)).toEqual(['stdout.log']);
        });
      }),
      { numRuns: 150 },
    );
  });

  test('OUT-03 a joining that was interrupted is done again without a byte twice', () => {
    inFolder((dir) => {
      const layout = { headBytes: 10, tailBytes: 20, segmentBytes: 5 };
      const all = streamOf(25);
      const keeper = new StreamKeeper({ dir, name: 'stdout', layout });
      keeper.write(all);
      keeper.close();
      // The first segment was copied and removed, the second copied in part, when the shim was killed.
      writeFileSync(closingPath(dir, 'stdout'), '');
      writeFileSync(path.join(dir, 'stdout.log'), all.subarray(0, 17));
      rmSync(segmentPath(dir, 'stdout', 0));
      const joined = joinStream({ dir, name: 'stdout', layout });
      expect(joined).toMatchObject({ bytesSeen: 25, head: 10, tailStart: 15, tail: 10 });
      const file = readFileSync(path.join(dir, 'stdout.log'));
      expect(file).toEqual(Buffer.concat([all.subarray(0, 10), Buffer.from(cutNote(5)), all.subarray(15)]));
    });
  });

  test('OUT-03 a disk that refuses does not stop the program: what came before is kept and the problem told', () => {
    inFolder((dir) => {
      const layout = { headBytes: 4, tailBytes: 8, segmentBytes: 4 };
      const keeper = new StreamKeeper({ dir: path.join(dir, 'none'), name: 'stdout', layout });
      keeper.write(streamOf(10));
      expect(keeper.bytesSeen).toBe(10);
      expect(keeper.problem).toMatch(/^After 0 bytes stdout could not be kept: ENOENT/);
    });
  });
});
