// The engine over SQLite against the model: the same programs, signals, cancels and kills, and the same history to be seen.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryGround } from './model/memory-ground.ts';
import { play } from './model/play.ts';
import { type Scenario, scenarios } from './model/scenario.ts';
import { sqliteGround } from './model/sqlite-ground.ts';

const compare = async (scenario: Scenario): Promise<void> => {
  const [expected, observed] = [await play(memoryGround(), scenario), await play(sqliteGround(), scenario)];
  expect(expected.violations).toEqual([]);
  expect(observed).toEqual(expected);
};

test(
  'P1 P2 RULE-2 whatever the handlers do and wherever a kill falls, SQLite and the model show the same history',
  { timeout: 240_000 },
  () => fc.assert(fc.asyncProperty(scenarios, compare), { numRuns: Number(process.env['GYRE_MODEL_RUNS'] ?? 60) }),
);
