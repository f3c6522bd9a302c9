import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../src/core/ids.ts';
import { resetTimeFromEpoch, resetTimeOf } from '../../src/core/reset-time.ts';
import { utcInstant, wallTimeAt, zoneInstant } from '../../src/core/zone-clock.ts';

const at = (iso: string) => epochMs(Date.parse(iso));
const read = (text: string, saidAt: string, localZone = 'UTC'): string | undefined => {
  const found = resetTimeOf(text, { saidAt: at(saidAt), localZone });
  return found === undefined ? undefined : new Date(found.at).toISOString();
};

describe('when a service says it serves again', () => {
  it('LIM-03 "2:30am", seen at 23:00 in its zone, is tomorrow there', () => {
    // 23:00 in Berlin in winter is 22:00 UTC.
    expect(read("You've hit your limit · resets 2:30am (Europe/Berlin)", '2026-11-30T22:00:00Z')).toBe('2026-12-01T01:30:00.000Z');
    expect(read('limit, resets 2:30am (America/New_York)', '2026-12-01T04:00:00Z')).toBe('2026-12-01T07:30:00.000Z');
    expect(read('limit, resets 11:30pm (Europe/Berlin)', '2026-11-30T22:00:00Z')).toBe('2026-11-30T22:30:00.000Z');
  });

  it('LIM-03 a reset at the very minute it is said is the next one', () => {
    expect(read('resets 2:30am (UTC)', '2026-11-30T02:30:00Z')).toBe('2026-12-01T02:30:00.000Z');
    expect(read('resets 2:30am (UTC)', '2026-11-30T02:29:59Z')).toBe('2026-11-30T02:30:00.000Z');
  });

  it('LIM-03 every form that was seen', () => {
    const said = '2026-11-30T12:00:00Z';
    const table: readonly (readonly [string, string])[] = [
      ['Your limit will reset at 3pm (America/New_York).', '2026-11-30T20:00:00.000Z'],
      ['Claude AI usage limit reached|1796054400', '2026-11-30T16:00:00.000Z'],
      ['resets_at: 1796054400', '2026-11-30T16:00:00.000Z'],
      ['{"resetsAt":1796054400000}', '2026-11-30T16:00:00.000Z'],
      ['limit reached, resets Dec 2, 10am (UTC)', '2026-12-02T10:00:00.000Z'],
      ['limit reached · resets Dec 2 at 10:15pm (Asia/Kolkata)', '2026-12-02T16:45:00.000Z'],
      ["You've hit your usage limit. Try again at Dec 4th, 2026 3:14 AM.", '2026-12-04T03:14:00.000Z'],
      ['try again at 3:45 PM', '2026-11-30T15:45:00.000Z'],
      ['resets at 14:30 UTC', '2026-11-30T14:30:00.000Z'],
      ['Please try again in 3h 12m', '2026-11-30T15:12:00.000Z'],
      ['Please try again in 20.5s.', '2026-11-30T12:00:20.500Z'],
      ['try again in 2 days 3 hours', '2026-12-02T15:00:00.000Z'],
      ['try again in 1 day, 1 hour and 5 minutes', '2026-12-01T13:05:00.000Z'],
      ['Rate limited. Please wait 30 seconds', '2026-11-30T12:00:30.000Z'],
      ['resets in 45m', '2026-11-30T12:45:00.000Z'],
      ['Please retry after 20 seconds', '2026-11-30T12:00:20.000Z'],
      ['429: {"retry_after": 30}', '2026-11-30T12:00:30.000Z'],
      ['retry-after: 30', '2026-11-30T12:00:30.000Z'],
      ['retry-after-ms: 1500', '2026-11-30T12:00:01.500Z'],
      ['Retry-After: Mon, 30 Nov 2026 12:28:00 GMT', '2026-11-30T12:28:00.000Z'],
      ['resets at 2026-11-30T13:30:00Z', '2026-11-30T13:30:00.000Z'],
      ['available again at 2026-11-30 18:30+05:30', '2026-11-30T13:00:00.000Z'],
    ];
    for (const [text, wanted] of table) expect([text, read(text, said)]).toEqual([text, wanted]);
  });

  it('LIM-03 what is no reset, or over already, is nothing', () => {
    const texts = [
      '',
      'rate limit exceeded',
      'The test took 3h 12m',
      'built at 2:30am (Europe/Berlin)',
      'resets 25:10',
      'resets 13pm (UTC)',
      'resets at 2026-11-30T11:59:00Z',
      'usage limit reached|1748916000',
      'resets Nov 30, 10am (UTC)',
      'try again',
      'retry 3 of 5',
      'retry-after: 0',
    ];
    for (const text of texts) expect([text, read(text, '2026-11-30T12:00:00Z')]).toEqual([text, undefined]);
  });

  it('LIM-03 an unknown zone is read as the local one, and that is said', () => {
    const heard = { saidAt: at('2026-11-30T22:00:00Z'), localZone: 'Europe/Berlin' };
    expect(resetTimeOf('resets 2:30am (Middle/Earth)', heard)).toEqual({
      at: at('2026-12-01T01:30:00Z'),
      note: 'The time zone Middle/Earth of the reset time is not known; it was read as Europe/Berlin.',
    });
    expect(resetTimeOf('resets 2:30am', heard)?.note).toBe('The reset time names no zone; it was read as Europe/Berlin.');
    expect(resetTimeOf('resets 2:30am (Europe/Berlin)', heard)?.note).toBe('');
  });

  it('LIM-03 nobody waits for more than 8 days', () => {
    const found = resetTimeOf('try again in 30 days', { saidAt: at('2026-11-30T00:00:00Z'), localZone: 'UTC' });
    expect(found?.at).toBe(at('2026-12-08T00:00:00Z'));
    expect(found?.note).toContain('more than 8 days');
    expect(read('resets Jan 2, 10am (UTC)', '2026-12-30T00:00:00Z')).toBe('2027-01-02T10:00:00.000Z');
  });

  it('LIM-03 a reset in the hour that clocks skip or repeat is never too early', () => {
    // Berlin, 29 March 2026: 02:00 to 03:00 does not exist; 25 October 2026: 02:00 to 03:00 comes twice.
    expect(read('resets 2:30am (Europe/Berlin)', '2026-03-28T22:00:00Z')).toBe('2026-03-29T01:30:00.000Z');
    expect(read('resets 2:30am (Europe/Berlin)', '2026-10-24T22:00:00Z')).toBe('2026-10-25T01:30:00.000Z');
  });

  it('LIM-03 a field may give seconds or milliseconds', () => {
    const saidAt = at('2026-11-30T12:00:00Z');
    expect(resetTimeFromEpoch(1_796_054_400, saidAt)?.at).toBe(at('2026-11-30T16:00:00Z'));
    expect(resetTimeFromEpoch(1_796_054_400_000, saidAt)?.at).toBe(at('2026-11-30T16:00:00Z'));
    expect(resetTimeFromEpoch(1_700_000_000, saidAt)).toBeUndefined();
    expect(resetTimeFromEpoch(undefined, saidAt)).toBeUndefined();
  });

  it('LIM-03 whatever is said, the answer lies after it and within 8 days, and no text takes long', () => {
    const words = fc.array(
      fc.constantFrom(
        'resets',
        'try again',
        'in',
        'at',
        '3',
        'h',
        ':',
        '30',
        'am',
        '(',
        ')',
        'UTC',
        'Nov',
        '2026',
        '-',
        ' ',
        '|',
        'retry-after',
      ),
      {
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          words.map((list) => list.join('')),
          words.map((list) => list.join(' ')),
        ),
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        (text, now) => {
          const found = resetTimeOf(text, { saidAt: epochMs(now), localZone: 'Europe/Berlin' });
          if (found === undefined) return;
          expect(found.at).toBeGreaterThan(now);
          expect(found.at).toBeLessThanOrEqual(now + 8 * 86_400_000);
        },
      ),
      { numRuns: 2_000 },
    );
    const begun = performance.now();
    for (const nasty of ['resets ', 'try again in 1h ', 'wait for your limit '])
      resetTimeOf(nasty.repeat(5_000), { saidAt: epochMs(0), localZone: 'UTC' });
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});

describe('the clocks of zones', () => {
  it('LIM-03 wall time and instant agree in every zone at every time', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
      'Pacific/Apia',
      'America/St_Johns',
    );
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 4_000_000_000 }), (zone, seconds) => {
        const instant = epochMs(seconds * 1000);
        const shown = wallTimeAt(instant, zone);
        const back = zoneInstant(shown, zone);
        expect(wallTimeAt(back, zone)).toEqual(shown);
        expect(back).toBeGreaterThanOrEqual(instant);
      }),
      { numRuns: 500 },
    );
  });

  it('LIM-03 days beyond the end of a month carry over', () => {
    expect(utcInstant({ year: 2026, month: 11, day: 31, hour: 0, minute: 0, second: 0 })).toBe(Date.UTC(2026, 11, 1));
    expect(utcInstant({ year: 2028, month: 2, day: 29, hour: 1, minute: 2, second: 3 })).toBe(Date.UTC(2028, 1, 29, 1, 2, 3));
  });
});
