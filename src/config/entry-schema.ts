// The entries of `discover` and `verify`. What a map of optional keys cannot say (exactly one source, keys that belong to one source
// only) is a rule on the entry, so that all entries of a list are judged even when one of them is wrong.

import { z } from 'zod';
import type { ReportFormat } from '../core/test-report.ts';
import { entryDefaults } from './defaults.ts';
import { choice, count, duration, flag, globs, keys, relativePath, text } from './schema-parts.ts';

export const reportFormats = [
  'tap',
  'node-spec',
  'jest-json',
  'junit',
  'pytest',
  'go-json',
  'cargo',
] as const satisfies readonly ReportFormat[];

interface Problem {
  readonly path: readonly string[];
  readonly found: string;
  readonly wanted: string;
  /** Something is missing: not said of a map that has a mistyped key, which is likely what is missing. */
  readonly isMissing?: true;
}

/** Hands the problems a rule finds to Zod; `params.found` comes back in read-layer.ts. */
const reporting =
  <Entry>(problemsOf: (entry: Entry) => readonly Problem[]) =>
  (entry: Entry, context: z.RefinementCtx): void => {
    for (const { path, wanted, ...params } of problemsOf(entry))
      context.addIssue({ code: 'custom', path: [...path], message: wanted, params });
  };

const sources = ['tests', 'tasks', 'command', 'issues'] as const;
const fitting: Readonly<Record<(typeof sources)[number], readonly string[]>> = {
  tests: ['report', 'times', 'timeout'],
  tasks: [],
  command: ['timeout'],
  issues: [],
};

const discoverProblems = (entry: Readonly<Record<string, unknown>>): readonly Problem[] => {
  const named = sources.filter((source) => entry[source] !== undefined);
  const [source] = named;
  if (source === undefined || named.length > 1)
    return [
      {
        path: [],
        found: source === undefined ? 'no source of tasks' : `${named.join(' and ')} together`,
        wanted: `exactly one of ${sources.join(', ')}`,
        ...(source === undefined ? { isMissing: true as const } : {}),
      },
    ];
  const fits = fitting[source];
  return Object.keys(entry)
    .filter((key) => key !== source && !fits.includes(key))
    .map((key) => ({
      path: [key],
      found: `a key that a ${source} source does not have`,
      wanted: fits.length === 0 ? `${source} alone` : `${source} with any of ${fits.join(', ')}`,
    }));
};

/** Anybody can open an issue; a label or an assignee is given by somebody who may. */
const issuesProblems = (entry: {
  readonly labels?: readonly string[] | undefined;
  readonly assignee?: string | undefined;
}): readonly Problem[] =>
  (entry.labels ?? []).length > 0 || entry.assignee !== undefined
    ? []
    : [
        {
          path: [],
          found: 'neither a label nor an assignee',
          wanted: "labels or an assignee: without, anybody's issue would be worked on",
        },
      ];

const label = text('a label', { description: 'A label: open issues that have it.' }, 50).regex(/^[^,]+$/, {
  error: 'a label without a comma',
});

const checkProblems = (entry: { readonly run?: string | undefined; readonly review?: unknown }): readonly Problem[] => {
  // A reviewer that never looks would be trusted as if it had: such a loop does not start.
  if (entry.review !== undefined)
    return [
      { path: ['review'], found: 'a reviewer, which is not available in this version', wanted: 'checks only, such as run: npm test' },
    ];
  return entry.run === undefined ? [{ path: ['run'], found: 'nothing', wanted: 'a command', isMissing: true }] : [];
};

const report = keys(
  {
    format: choice(reportFormats, { description: 'Format of the test report. Recognised by itself where this is missing.' }).optional(),
    file: relativePath({ description: 'File the command writes its report to. Without it the report is read from the output.' }).optional(),
  },
  'a map with format, file or both',
  { description: 'How to read what the tests said.' },
);

/** One entry of `discover`. */
export const discoverEntry = keys(
  {
    tests: text('a test command', { description: 'Test command: one task for each failing test.' }).optional(),
    tasks: relativePath({ description: 'Markdown file: one task for each open `- [ ]` item.' }).optional(),
    command: text('a command', {
      description: 'Command that prints one JSON object a line: key, title, body, evidence, priority, touches, trust.',
    }).optional(),
    issues: z
      .union(
        [
          label,
          keys(
            {
              labels: z
                .array(label, { error: 'a list of labels' })
                .max(20, { error: 'at most 20 labels' })
                .meta({ description: 'Labels, all of which an issue has.' })
                .optional(),
              assignee: text(
                'a login, none or *',
                { description: 'Login of an assignee, `none` for nobody, `*` for anybody.' },
                100,
              ).optional(),
            },
            'a label, or a map with labels or assignee',
            { description: 'Which open issues.' },
          ).superRefine(reporting(issuesProblems)),
        ],
        { error: 'a label, or a map with labels or assignee' },
      )
      .meta({ description: 'Open issues of the repository on GitHub: one task for each.' })
      .optional(),
    report: report.optional(),
    times: count(1, 10, {
      description: 'Runs of the test command, so that flaky tests are told from broken ones.',
      default: entryDefaults.times,
    }).optional(),
    timeout: duration({ description: 'Time the command may take.', default: entryDefaults.timeout }).optional(),
  },
  'a map with one of tests, tasks, command or issues',
  { description: 'A source of tasks.' },
).superRefine(reporting(discoverProblems));

/** One entry of `verify`. */
export const checkEntry = z.union(
  [
    text('a command', { description: 'A check: the command alone.' }),
    keys(
      {
        run: text('a command', { description: 'Command that Gyre runs on the candidate in a clean checkout.' }).optional(),
        review: z.unknown().meta({ description: 'Not available in this version.' }).optional(),
        name: text('a short name', { description: 'Name in reports. Default: the command.' }, 200).optional(),
        timeout: duration({
          description: 'Time the command may take. Running into it is inconclusive, never a pass.',
          default: entryDefaults.timeout,
        }).optional(),
        env: z
          .record(
            z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'names of environment variables' }),
            z.union([z.string(), z.number(), z.boolean()], { error: 'a text, a number, true or false' }),
            { error: 'a map of environment variables' },
          )
          .meta({ description: 'Environment variables for the command.', default: {} })
          .optional(),
        network: flag({ description: 'Whether the check may use the network. No effect in this version.' }).optional(),
        when: globs({ description: 'Only when one of these files changed. No effect in this version: the check always runs.' }).optional(),
        report: report.optional(),
      },
      'a command, or a map with run',
      { description: 'A check.' },
    ).superRefine(reporting(checkProblems)),
  ],
  { error: 'a command, or a map with run' },
);

export type DiscoverInput = z.infer<typeof discoverEntry>;
export type CheckInput = z.infer<typeof checkEntry>;
