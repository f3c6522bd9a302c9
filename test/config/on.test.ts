import { describe, expect, test } from 'vitest';
import { issuesOf, load, loopText, minimal } from './helpers.ts';

const triggersOf = (line: string) => load(loopText(`${minimal}\n${line}`)).definition.triggers;
const time = { overlap: 'skip', catchUp: { run: 'once' }, jitterMs: 0, silentAfter: 3 };

const accepted: readonly (readonly [string, readonly object[]])[] = [
  ['on: manual', [{ on: 'manual', id: 'manual' }]],
  [
    'on: { schedule: "0 7 * * 1-5", timezone: Europe/Berlin }',
    [{ on: 'schedule', cron: '0 7 * * 1-5', timezone: 'Europe/Berlin', ...time }],
  ],
  ['on: { schedule: "0  7 * * MON-FRI" }', [{ on: 'schedule', cron: '0 7 * * MON-FRI', timezone: 'UTC', ...time }]],
  ['on: { every: 15m }', [{ on: 'every', everyMs: 900_000, ...time }]],
  [
    'on: { every: 1h, overlap: queue, catch-up: { all: 5 }, jitter: 5m, silent-after: 9 }',
    [{ on: 'every', everyMs: 3_600_000, overlap: 'queue', catchUp: { run: 'all', max: 5 }, jitterMs: 300_000, silentAfter: 9 }],
  ],
  ['on: { every: 1h, catch-up: skip }', [{ on: 'every', catchUp: { run: 'none' } }]],
  ['on: { watch: [src/**] }', [{ on: 'watch', globs: ['src/**'], overlap: 'queue' }]],
  ['on: { git: { branch: main } }', [{ on: 'git', refs: { kind: 'branch', pattern: 'main' }, pollMs: 30_000 }]],
  ['on: { git: { tag: "v*" }, poll: 5s }', [{ on: 'git', refs: { kind: 'tag', pattern: 'v*' }, pollMs: 5000 }]],
  ['on: { git: { remote: origin } }', [{ on: 'git', refs: { kind: 'remote', remote: 'origin', pattern: '**' } }]],
  [
    'on: { webhook: github.check_run }',
    [{ on: 'webhook', sender: 'github', event: 'check_run', action: undefined, secretVariable: 'GYRE_WEBHOOK_SECRET' }],
  ],
  [
    'on: { webhook: github.check_run.completed, secret: HOOK }',
    [{ on: 'webhook', event: 'check_run', action: 'completed', secretVariable: 'HOOK' }],
  ],
  ['on: { webhook: generic.deploy }', [{ on: 'webhook', sender: 'generic', event: 'deploy' }]],
  ['on: { after: other }', [{ on: 'after', loop: 'other', exits: [] }]],
  ['on: { after: { loop: other, exit: [parked, fault] } }', [{ on: 'after', loop: 'other', exits: ['parked', 'fault'] }]],
  ['on: [manual, { every: 1h }, { watch: [a] }]', [{ on: 'manual' }, { on: 'every' }, { on: 'watch' }]],
];

test.each(accepted)('CFG-70 `%s` is a trigger', (line, triggers) => {
  expect(triggersOf(line)).toMatchObject(triggers);
});

test('CFG-71 a policy does not change what a trigger is called, what it waits for does', () => {
  const idOf = (line: string) => triggersOf(line)[0]?.id;
  expect(idOf('on: { every: 1h, jitter: 5m }')).toBe(idOf('on: { every: 60m }'));
  expect(idOf('on: { every: 2h }')).not.toBe(idOf('on: { every: 1h }'));
  expect(idOf('on: { schedule: "0 7 * * *", timezone: Europe/Berlin }')).not.toBe(idOf('on: { schedule: "0 7 * * *" }'));
});

const cronWanted = 'wanted a cron line of five fields, such as "0 7 * * 1-5"';
const refused: readonly (readonly [string, string])[] = [
  ['on: sometimes', 'fix.md:3:5 on: found "sometimes", wanted one of manual'],
  ['on: []', 'fix.md:3:5 on: found an empty list, wanted at least one trigger'],
  [
    'on: { evry: 15m }',
    'fix.md:3:7 on.evry: found an unknown key, wanted one of schedule, timezone, every, watch, git, webhook, after, overlap, catch-up, jitter, silent-after, poll, secret (did you mean every?)',
  ],
  ['on: { schedule: "61 7 * * *" }', `fix.md:3:7 on.schedule: found "61 7 * * *": Invalid value for minute: 61, ${cronWanted}`],
  ['on: { schedule: "0 7 * *" }', `fix.md:3:7 on.schedule: found "0 7 * *": 4 fields, ${cronWanted}`],
  ['on: { schedule: "0 0 7 * * *" }', `fix.md:3:7 on.schedule: found "0 0 7 * * *": 6 fields, ${cronWanted}`],
  ['on: { schedule: "0 0 30 2 *" }', `fix.md:3:7 on.schedule: found "0 0 30 2 *": a line that is never due, ${cronWanted}`],
  ['on: { schedule: "0 7 ? * 1" }', `fix.md:3:7 on.schedule: found "0 7 ? * 1": a ?, which stands for no time, ${cronWanted}`],
  [
    'on: { schedule: "0 7 * * *", timezone: Europe/Berln }',
    'fix.md:3:30 on.timezone: found "Europe/Berln", wanted a time zone such as Europe/Berlin (did you mean Europe/Berlin?)',
  ],
  [
    'on: { schedule: "0 7 * * *", timezone: "+02:00" }',
    'fix.md:3:30 on.timezone: found "+02:00", wanted a time zone such as Europe/Berlin',
  ],
  [
    'on: { every: 1h, timezone: Europe/Berlin }',
    'fix.md:3:18 on.timezone: found a key that a every trigger does not have, wanted every with any of overlap, catch-up, jitter, silent-after',
  ],
  ['on: { overlap: skip }', 'fix.md:3:1 on: found no trigger, wanted exactly one of schedule, every, watch, git, webhook, after'],
  [
    'on: { every: 1h, watch: [a] }',
    'fix.md:3:1 on: found every and watch together, wanted exactly one of schedule, every, watch, git, webhook, after (a list has a map for each)',
  ],
  ['on: { every: 500ms }', 'fix.md:3:7 on.every: found 500ms, wanted at least 1s'],
  ['on: { every: 15m, catch-up: { all: 101 } }', 'fix.md:3:36 on.catch-up.all: found 101, wanted a whole number from 1 to 100'],
  ['on: { every: 15m, catch-up: { all: 0 } }', 'fix.md:3:36 on.catch-up.all: found 0, wanted a whole number from 1 to 100'],
  [
    'on: { every: 15m, overlap: cancel-previous, catch-up: { all: 2 } }',
    'fix.md:3:45 on.catch-up: found all with overlap: cancel-previous, where each would cancel the one before, wanted once or skip, or another overlap',
  ],
  [
    'on: { every: 15m, jitter: 15m }',
    'fix.md:3:19 on.jitter: found 15m, and windows are 900s apart at the closest, wanted less than the time between two windows',
  ],
  [
    'on: { schedule: "0,10 7 * * *", jitter: 30m }',
    'fix.md:3:33 on.jitter: found 30m, and windows are 600s apart at the closest, wanted less than the time between two windows',
  ],
  [
    'on: { watch: [src/**], catch-up: once }',
    'fix.md:3:24 on.catch-up: found a key that a watch trigger does not have, wanted watch with any of overlap',
  ],
  [
    'on: { webhook: gitlab.push }',
    'fix.md:3:7 on.webhook: found "gitlab.push", wanted github, github.<event>, github.<event>.<action>, generic or generic.<event>',
  ],
  ['on: { webhook: github, secret: "a b" }', 'fix.md:3:32 on.secret: found "a b", wanted the name of an environment variable'],
  ['on: { git: {} }', 'fix.md:3:7 on.git: found an empty map, wanted a map with branch, tag or remote'],
  [
    'on: { git: { tag: a, branch: b } }',
    'fix.md:3:14 on.git.tag: found tag and branch together, wanted tag alone, or branch with or without remote',
  ],
  ['on: { after: fix }', 'fix.md:3:14 on.after: found fix, which is this loop, wanted another loop'],
  [
    'on: { after: { loop: a, exit: well } }',
    'fix.md:3:31 on.after.exit: found "well", wanted one of goal-met, nothing-to-do, parked, stopped, fault',
  ],
  ['on: [{ every: 1h }, { every: 60m }]', 'fix.md:3:21 on.1: found the same trigger a second time, wanted each trigger once'],
];

describe('bad triggers', () => {
  test.each(refused)('CFG-72 `%s` is refused with a sentence', (line, issue) => {
    expect(issuesOf(() => load(loopText(`${minimal}\n${line}`)))).toEqual([issue]);
  });
});
