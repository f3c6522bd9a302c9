import { describe, expect, it } from 'vitest';
import { isAwake, mergeKey, noWakeFacts, wakesAt, type Wake } from '../../src/dispatch/index.ts';
import { after, noon } from './world.ts';

describe('what a parked task waits for', () => {
  it('DPT-18 each wakes on its own condition and on no other', () => {
    const facts = { answered: new Set(['q1']), merged: new Set([mergeKey({ target: 'main', of: 'gyre/fix/a' })]) };
    const table: readonly (readonly [Wake, boolean, boolean])[] = [
      [{ on: 'time', at: after(1) }, false, true],
      [{ on: 'time', at: noon }, true, true],
      [{ on: 'quota', at: after(1), provider: 'anthropic' }, false, true],
      [{ on: 'answer', question: 'q1' }, true, true],
      [{ on: 'answer', question: 'q2' }, false, false],
      [{ on: 'merge', target: 'main', of: 'gyre/fix/a' }, true, true],
      [{ on: 'merge', target: 'next', of: 'gyre/fix/a' }, false, false],
      [{ on: 'person' }, false, false],
    ];
    for (const [wake, isNow, isLater] of table) {
      expect(isAwake(wake, facts, noon), JSON.stringify(wake)).toBe(isNow);
      expect(isAwake(wake, facts, after(1)), JSON.stringify(wake)).toBe(isLater);
    }
  });

  it('DPT-18 only an instant can be looked forward to', () => {
    expect(wakesAt({ on: 'quota', at: noon, provider: 'x' })).toBe(noon);
    expect(wakesAt({ on: 'answer', question: 'q' })).toBeUndefined();
    expect(isAwake({ on: 'answer', question: 'q' }, noWakeFacts, noon)).toBe(false);
  });
});
