import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryGround } from './model/memory-ground.ts';
import { play } from './model/play.ts';
import { scenarios } from './model/scenario.ts';
test('mm', { timeout: 240_000 }, () =>
  fc.assert(fc.asyncProperty(scenarios, async (scenario) => {
    const a = await play(memoryGround(), scenario);
    const b = await play(memoryGround(), { ...scenario, crashes: [] });
    expect(a.violations).toEqual([]);
    expect(a).toEqual(b);
  }), { numRuns: 300 }));
