// `on:`, what starts a tick: `manual`, one map, or a list of them. What a map of optional keys cannot say (one trigger a map, policies
// that fit it) is a rule on the map, so that every trigger of a list is judged.

import { z } from 'zod';
import { nearest } from '../core/nearest.ts';
import { cronProblem, isZone, shortestGapMs, zoneNames } from '../schedule/read.ts';
import { defaults, triggerDefaults } from './defaults.ts';
import { parseDuration } from './duration.ts';
import { choice, count, duration, globs, keys, text } from './schema-parts.ts';

const exits = ['goal-met', 'nothing-to-do', 'parked', 'stopped', 'fault'] as const;
const overlaps = ['skip', 'queue', 'cancel-previous', 'allow'] as const;
export const catchUpMax = 100;

const kinds = ['schedule', 'every', 'watch', 'git', 'webhook', 'after'] as const;
type Kind = (typeof kinds)[number];
const timed = ['overlap', 'catch-up', 'jitter', 'silent-after'];
const fitting: Readonly<Record<Kind, readonly string[]>> = {
  schedule: ['timezone', ...timed],
  every: timed,
  watch: ['overlap'],
  git: ['overlap', 'poll'],
  webhook: ['overlap', 'secret'],
  after: ['overlap'],
};

const ref = (description: string) => text('the name of a ref, or a glob such as release/*', { description }, 250);
const loopName = text('the name of a loop', { description: 'The loop whose tick is waited for.' }, 250);

const triggerKeys = keys(
  {
    schedule: text(
      'a cron line such as "0 7 * * 1-5"',
      { description: 'Cron line of five fields: minute, hour, day, month, weekday.' },
      200,
    ).optional(),
    timezone: text(
      'a time zone such as Europe/Berlin',
      { description: 'Time zone of the schedule.', default: triggerDefaults.timezone },
      100,
    ).optional(),
    every: duration({ description: 'Interval. Windows lie on multiples of it since 1970, whenever Gyre was started.' }).optional(),
    watch: globs({ description: 'Files whose change starts a tick. What git ignores is not watched.' }).optional(),
    git: keys(
      {
        branch: ref('A branch that is new or has moved, here or (with remote) there.').optional(),
        tag: ref('A tag that is new or has moved.').optional(),
        remote: text(
          'a remote, a path or an address',
          { description: 'Where to look for the branch: a remote such as origin, a path or an address. Default branch there: every one.' },
          1000,
        ).optional(),
      },
      'a map with branch, tag or remote',
      { description: 'Refs whose move starts a tick.' },
    ).optional(),
    webhook: text(
      'github, github.<event>, github.<event>.<action>, generic or generic.<event>',
      { description: 'Event that starts a tick, such as github.check_run.' },
      200,
    ).optional(),
    after: z
      .union(
        [
          loopName,
          keys(
            {
              loop: loopName.optional(),
              exit: z
                .union([choice(exits, { description: 'An exit.' }), z.array(choice(exits, { description: 'An exit.' })).min(1)], {
                  error: `one of ${exits.join(', ')}, or a list of them`,
                })
                .meta({ description: 'Exits that count. Default: every exit.' })
                .optional(),
            },
            'the name of a loop, or a map with loop',
            { description: 'Another loop.' },
          ),
        ],
        { error: 'the name of a loop, or a map with loop' },
      )
      .meta({ description: 'Another loop whose tick has ended.' })
      .optional(),
    overlap: choice(overlaps, {
      description: 'When a tick of this loop still runs. Default: skip for schedule and every, queue for events.',
    }).optional(),
    'catch-up': z
      .union(
        [
          choice(['skip', 'once'], { description: 'What becomes of missed windows.' }),
          keys({ all: count(1, catchUpMax, { description: 'Run the newest so many, one after another.' }) }, 'skip, once, or { all: 5 }', {
            description: 'Run several.',
          }),
        ],
        { error: `skip, once, or { all: n } with n from 1 to ${catchUpMax}` },
      )
      .meta({ description: 'Windows that passed while the machine was off or asleep.', default: triggerDefaults['catch-up'] })
      .optional(),
    jitter: duration({
      description: 'Start each window up to so much later, always by its own share. Less than the time between windows.',
    }).optional(),
    'silent-after': count(1, 1000, {
      description: 'So many windows in a row without a tick raise an alarm.',
      default: triggerDefaults['silent-after'],
    }).optional(),
    poll: duration({ description: 'Time between two looks at the refs.', default: triggerDefaults.poll }).optional(),
    secret: z
      .string({ error: 'the name of an environment variable' })
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'the name of an environment variable' })
      .meta({
        description: 'Environment variable that holds the shared secret of a webhook. Never the secret itself.',
        default: triggerDefaults.secret,
      })
      .optional(),
  },
  'manual, or a map with schedule, every, watch, git, webhook or after',
  { description: 'A trigger.' },
);

export type TriggerInput = z.infer<typeof triggerKeys>;

export const webhookPattern = /^(?:(github)(?:\.([a-z_]+)(?:\.([a-z_]+))?)?|(generic)(?:\.([A-Za-z0-9_-]+))?)$/;

interface Problem {
  readonly path: readonly string[];
  readonly found: string;
  readonly wanted: string;
  readonly nearest?: string | undefined;
  readonly isMissing?: true;
}

const gitProblems = ({ git, poll }: TriggerInput): readonly Problem[] => {
  if (git === undefined) return [];
  const { branch, tag, remote } = git;
  if (branch === undefined && tag === undefined && remote === undefined)
    return [{ path: ['git'], found: 'an empty map', wanted: 'a map with branch, tag or remote', isMissing: true }];
  if (tag !== undefined && (branch !== undefined || remote !== undefined))
    return [
      {
        path: ['git', 'tag'],
        found: `tag and ${branch === undefined ? 'remote' : 'branch'} together`,
        wanted: 'tag alone, or branch with or without remote',
      },
    ];
  if (remote?.startsWith('-') === true)
    return [{ path: ['git', 'remote'], found: JSON.stringify(remote), wanted: 'a remote, a path or an address' }];
  if (poll !== undefined && (parseDuration(poll) ?? 0) < 1000) return [{ path: ['poll'], found: poll, wanted: 'at least 1s' }];
  return [];
};

const timeProblems = (trigger: TriggerInput): readonly Problem[] => {
  const problems: Problem[] = [];
  const { schedule, timezone, every, overlap, jitter } = trigger;
  const cron = schedule === undefined ? undefined : cronProblem(schedule);
  if (cron !== undefined)
    problems.push({
      path: ['schedule'],
      found: `${JSON.stringify(schedule)}: ${cron}`,
      wanted: 'a cron line of five fields, such as "0 7 * * 1-5"',
    });
  if (timezone !== undefined && !isZone(timezone))
    problems.push({
      path: ['timezone'],
      found: JSON.stringify(timezone),
      wanted: 'a time zone such as Europe/Berlin',
      nearest: nearest(timezone, zoneNames()),
    });
  const everyMs = every === undefined ? undefined : parseDuration(every);
  if (everyMs !== undefined && everyMs < 1000) problems.push({ path: ['every'], found: every ?? '', wanted: 'at least 1s' });
  if (overlap === 'cancel-previous' && typeof trigger['catch-up'] === 'object')
    problems.push({
      path: ['catch-up'],
      found: 'all with overlap: cancel-previous, where each would cancel the one before',
      wanted: 'once or skip, or another overlap',
    });
  if (jitter !== undefined && problems.length === 0) {
    const gapMs = schedule === undefined ? everyMs : shortestGapMs(schedule, timezone ?? triggerDefaults.timezone);
    if (gapMs !== undefined && (parseDuration(jitter) ?? 0) >= gapMs)
      problems.push({
        path: ['jitter'],
        found: `${jitter}, and windows are ${gapMs / 1000}s apart at the closest`,
        wanted: 'less than the time between two windows',
      });
  }
  return problems;
};

const triggerProblems = (trigger: TriggerInput): readonly Problem[] => {
  const named = kinds.filter((kind) => trigger[kind] !== undefined);
  const [kind] = named;
  if (kind === undefined || named.length > 1)
    return [
      {
        path: [],
        found: kind === undefined ? 'no trigger' : `${named.join(' and ')} together`,
        wanted: `exactly one of ${kinds.join(', ')}${kind === undefined ? '' : ' (a list has a map for each)'}`,
        ...(kind === undefined ? { isMissing: true as const } : {}),
      },
    ];
  const misplaced = Object.keys(trigger)
    .filter((key) => key !== kind && !fitting[kind].includes(key))
    .map((key): Problem => ({
      path: [key],
      found: `a key that a ${kind} trigger does not have`,
      wanted: `${kind} with any of ${fitting[kind].join(', ')}`,
    }));
  const webhook =
    trigger.webhook !== undefined && !webhookPattern.test(trigger.webhook)
      ? [
          {
            path: ['webhook'],
            found: JSON.stringify(trigger.webhook),
            wanted: 'github, github.<event>, github.<event>.<action>, generic or generic.<event>',
          },
        ]
      : [];
  const after =
    typeof trigger.after === 'object' && trigger.after.loop === undefined
      ? [{ path: ['after', 'loop'], found: 'nothing', wanted: 'the name of a loop', isMissing: true as const }]
      : [];
  const watch = trigger.watch?.length === 0 ? [{ path: ['watch'], found: 'an empty list', wanted: 'at least one glob' }] : [];
  return [...misplaced, ...webhook, ...after, ...watch, ...gitProblems(trigger), ...timeProblems(trigger)];
};

const trigger = triggerKeys.superRefine((value, context) => {
  for (const { path, wanted, ...params } of triggerProblems(value))
    context.addIssue({ code: 'custom', path: [...path], message: wanted, params });
});

const manual = choice(['manual'], { description: 'Only when a person runs it.' });
const wanted = 'manual, a map with schedule, every, watch, git, webhook or after, or a list of them';

export const on = z
  .union(
    [
      manual,
      trigger,
      z
        .array(z.union([manual, trigger], { error: wanted }), { error: wanted })
        .min(1, { error: 'at least one trigger' })
        .max(20, { error: 'at most 20 triggers' }),
    ],
    { error: wanted },
  )
  .meta({ description: 'What starts a tick. A person can start one at any time.', default: defaults.on });
