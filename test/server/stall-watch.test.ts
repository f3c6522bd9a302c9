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
    const until = Date.now() + 20_000;
    // The watch is coarse, and a busy machine adds stalls of its own, but it takes nothing away.
    while ((told.at(-1) ?? 0) < 300 && Date.now() < until) await delay(20);
    expect(told.at(-1)).toBeGreaterThanOrEqual(300);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  } finally {
    stop();
  }
});
