// The front matter of a loop file (DESIGN 5.1). The schema says what may be written; what it means is decided in resolve-*.ts.

import { z } from 'zod';
import type { LandingKind } from '../core/loop-definition.ts';
import { agent } from './agent-schema.ts';
import { defaults } from './defaults.ts';
import { checkEntry, discoverEntry } from './entry-schema.ts';
import { on } from './on-schema.ts';
import { budget, choice, count, duration, flag, folders, globs, keys, size, text } from './schema-parts.ts';

export const landings = ['report', 'patch', 'branch', 'merge', 'pull-request'] as const satisfies readonly LandingKind[];

const { workspace: workspaceDefaults, stop: stopDefaults, land: landDefaults } = defaults;

/** Keys of `workspace` in both files. */
export const workspaceShape = {
  setup: text('a command', { description: 'Command that makes a fresh checkout ready, such as npm ci. Default: none.' }).optional(),
  'setup-timeout': duration({ description: 'Time the set-up may take.', default: workspaceDefaults['setup-timeout'] }).optional(),
  share: folders({
    description: 'Folders that setup fills and nothing else, such as node_modules: kept by lock file, and set-up is skipped.',
    default: workspaceDefaults.share,
  }).optional(),
  sandbox: choice(['none', 'read-only', 'workspace-write'], {
    description: 'What limits the agent. Only none has an effect in this version.',
    default: workspaceDefaults.sandbox,
  }).optional(),
};

const workspaceKeys = keys(workspaceShape, 'a map with setup, setup-timeout, share or sandbox', {
  description: 'The folder of an attempt.',
});

export const stopKeys = keys(
  {
    attempts: count(1, 1000, { description: 'Attempts at one task.', default: stopDefaults.attempts }).optional(),
    'no-progress': count(2, 1000, {
      description: 'So many attempts in a row that changed nothing end the run.',
      default: stopDefaults['no-progress'],
    }).optional(),
    'same-failure': count(2, 1000, {
      description: 'So many attempts in a row with the same failure park the run.',
      default: stopDefaults['same-failure'],
    }).optional(),
    time: duration({ description: 'Time for one task, all attempts together.', default: stopDefaults.time }).optional(),
    budget: budget({
      description: 'Money, tokens or both for one task: $5, 200k tokens, [$5, 200k tokens], or none.',
      default: stopDefaults.budget,
    }).optional(),
    agents: count(1, 1000, { description: 'Agents at once under one run. No effect in this version.' }).optional(),
    depth: count(1, 100, { description: 'How deep runs may start runs. No effect in this version.' }).optional(),
    session: duration({ description: 'Time for one agent session.', default: stopDefaults.session }).optional(),
    idle: duration({ description: 'Time an agent may say nothing.', default: stopDefaults.idle }).optional(),
    'result-grace': duration({
      description: 'Time between the final word of an agent and its end.',
      default: stopDefaults['result-grace'],
    }).optional(),
    output: size({ description: 'Output kept of one stream of one process.', default: stopDefaults.output }).optional(),
  },
  'a map of limits',
  { description: 'When a run ends without success.' },
);

const landAs = choice(landings, { description: 'What becomes of work that passed.', default: landDefaults.as });

export const land = z
  .union(
    [
      landAs,
      keys(
        {
          as: landAs.optional(),
          target: text(
            'the name of a branch',
            { description: 'Branch to merge onto, also by a pull request. Default: the branch that was checked out.' },
            250,
          ).optional(),
          sign: choice(['auto', 'never'], {
            description: 'Sign commits as git is configured to, or never.',
            default: landDefaults.sign,
          }).optional(),
        },
        'one of report, patch, branch, merge, pull-request, or a map with as',
        { description: 'How work that passed is brought in.' },
      ),
    ],
    { error: 'one of report, patch, branch, merge, pull-request, or a map with as' },
  )
  .meta({ description: 'How work that passed is brought in.', default: landDefaults });

export const sharedShape = {
  agent: agent.optional(),
  workspace: workspaceKeys.optional(),
  protect: globs({
    description:
      'Files the agent may not change. The default covers tests, test configuration, CI, lock files and the files of Gyre; [] protects none.',
    default: defaults.protect,
  }).optional(),
  stop: stopKeys.optional(),
  land: land.optional(),
};

export const loopShape = {
  description: text('a text', { description: 'What the loop is for, in one line.', default: defaults.description }).optional(),
  on: on.optional(),
  discover: z
    .array(discoverEntry, { error: 'a list of sources, such as - tests: npm test' })
    .min(1, { error: 'at least one source of tasks' })
    .max(50, { error: 'at most 50 sources of tasks' })
    .meta({ description: 'Where tasks come from. Default: the goal is the one task, proved by the first check.' })
    .optional(),
  goal: text('a text', { description: 'What is true when a task is done.', default: defaults.goal }).optional(),
  agent: sharedShape.agent,
  workspace: sharedShape.workspace,
  verify: z
    .array(checkEntry, { error: 'a list of checks, such as - run: npm test' })
    .min(1, { error: 'at least one check' })
    .max(50, { error: 'at most 50 checks' })
    .meta({ description: 'Checks that Gyre runs on every candidate. Default: the commands of the tests entries of discover.' })
    .optional(),
  protect: sharedShape.protect,
  stop: sharedShape.stop,
  land: sharedShape.land,
  autonomy: choice(['report', 'assisted', 'unattended', 'earned'], {
    description: 'How far the loop may go without a person. Approvals are not built in this version: landing follows land.as.',
  }).optional(),
  memory: keys(
    {
      recall: flag({ description: 'Give lessons to the agent. No effect in this version.' }).optional(),
      learn: choice(['off', 'gated', 'auto'], { description: 'Keep lessons. No effect in this version.' }).optional(),
    },
    'a map with recall or learn',
    { description: 'What the loop remembers. No effect in this version.' },
  ).optional(),
  notes: choice(['none', 'issue'], {
    description: 'issue: one comment on the issue of a task says how its work stands, and is edited as that changes.',
    default: defaults.notes,
  }).optional(),
  parallel: count(1, 10_000, { description: 'Runs of this loop at once.', default: defaults.parallel }).optional(),
};

export const loopSchema = z.strictObject(loopShape).meta({
  title: 'Gyre loop',
  description: 'Front matter of .gyre/loops/<name>.md',
});

export type LoopInput = z.infer<typeof loopSchema>;
