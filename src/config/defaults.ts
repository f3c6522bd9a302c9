import { defaultProtect } from './default-protect.ts';

/** What a loop gets where neither its file nor `gyre.yaml` says otherwise, written as a person would write it. */
export const defaults = {
  description: '',
  on: 'manual',
  goal: 'The task is done and every check passes',
  agent: 'claude',
  workspace: { 'setup-timeout': '10m', share: [], sandbox: 'none' },
  protect: defaultProtect,
  stop: {
    attempts: 4,
    'no-progress': 2,
    'same-failure': 3,
    time: '45m',
    // L9 counts money among what is limited by default.
    budget: '$5',
    session: '30m',
    idle: '10m',
    'result-grace': '30s',
    output: '10mb',
  },
  land: { as: 'branch', sign: 'auto' },
  notes: 'none',
  parallel: 1,
} as const;

/** The same for the entries of `discover` and `verify`. */
export const entryDefaults = { times: 2, timeout: '10m', prompt: 'stdin' } as const;

/** The same for a trigger of `on`. */
export const triggerDefaults = {
  timezone: 'UTC',
  'catch-up': 'once',
  'silent-after': 3,
  poll: '30s',
  secret: 'GYRE_WEBHOOK_SECRET',
} as const;
