import { expect, test } from 'vitest';
import { epochMs } from '../../src/core/ids.ts';
import { isTimeTrigger } from '../../src/core/trigger.ts';
import { decideWindows } from '../../src/schedule/decide-windows.ts';
import { windowTimes } from '../../src/schedule/index.ts';
import { every, minuteMs } from './world.ts';

test('L11 a window that is open again behind one long stretch of missed ones is found, however many the stretch holds', () => {
  const trigger = every(minuteMs, { catchUp: { run: 'once' } });
  if (!isTimeTrigger(trigger)) throw new Error('an interval is a time trigger');
  const open = epochMs(Date.UTC(2026, 0, 1, 8, 0));
  // Its start was cut off, so that it is due again; all that came behind it was accounted for as one record.
  const stretch = { from: epochMs(open + minuteMs), to: epochMs(open + 500 * minuteMs) };
  const decisions = decideWindows(
    {
      loop: 'l',
      trigger,
      times: windowTimes(trigger),
      state: { since: open, accountedUntil: epochMs(open - 1), pending: [], starting: undefined, unfired: 0, seen: {} },
      ended: [stretch],
      running: [],
    },
    epochMs(stretch.to + 1_000),
  );
  expect(decisions.fire?.at).toBe(open);
  expect(decisions.ends).toEqual([]);
});
