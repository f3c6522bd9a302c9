import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createGate } from '../../src/core/gate.ts';

test('P6 a gate lets so many work at once, the others in their order, and goes on after work that failed', async () => {
  const gate = createGate(3);
  const begun: number[] = [];
  let atWork = 0;
  let most = 0;
  const ends = await Promise.allSettled(
    Array.from({ length: 50 }, (_, number) =>
      gate(async () => {
        begun.push(number);
        atWork += 1;
        most = Math.max(most, atWork);
        for (let turns = 0; turns <= number % 4; turns += 1) await turn();
        atWork -= 1;
        if (number % 7 === 0) throw new Error(`work ${number}`);
        return number;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(begun).toEqual(begun.toSorted((a, b) => a - b));
  expect(ends.map((end) => end.status === 'fulfilled')).toEqual(Array.from({ length: 50 }, (_, number) => number % 7 !== 0));
});
