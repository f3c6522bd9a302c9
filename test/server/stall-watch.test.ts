import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchStalls } from '../../src/server/index.ts';

const beBusy = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('L15 P6 a stall of the event loop is told with its length, and a shorter one after it is not', async () => {
  const told: number[] = [];
  const stop = watchStalls((ms) => told.push(ms), 50);
  try {
    await delay(60);
    beBusy(400);
    while (told.length === 0) await delay(20);
    // The watch is coarse, and the machine may add to it, but it takes nothing away.
    expect(Math.max(...told)).toBeGreaterThanOrEqual(300);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  } finally {
    stop();
  }
});
