// Views for the tests of dispatch: everything free unless a test says otherwise.
import { epochMs, type EpochMs } from '../../src/core/ids.ts';
import { noWakeFacts, type Failure, type QueuedItem, type RunningItem, type StartView } from '../../src/dispatch/index.ts';

export const noon: EpochMs = epochMs(Date.UTC(2026, 5, 15, 12));
export const after = (ms: number, from: EpochMs = noon): EpochMs => epochMs(from + ms);

export const item = (id: string, more: Partial<QueuedItem> = {}): QueuedItem => ({
  id,
  loop: 'fix',
  agent: 'claude',
  provider: 'anthropic',
  task: id,
  ownership: more.task ?? id,
  priority: 0,
  enqueuedAt: noon,
  place: 0,
  needs: [],
  wake: undefined,
  ...more,
});

export const items = (count: number, more: Partial<QueuedItem> = {}, prefix = 't'): readonly QueuedItem[] =>
  Array.from({ length: count }, (_, index) => item(`${prefix}${String(index + 1).padStart(4, '0')}`, { place: index, ...more }));

export const running = (run: string, more: Partial<RunningItem> = {}): RunningItem => ({
  run,
  loop: 'fix',
  agent: 'claude',
  provider: 'anthropic',
  ownership: run,
  ...more,
});

export const noLimits: StartView['limits'] = {
  machine: 1_000,
  perLoop: {},
  perAgent: {},
  perProvider: {},
  gapMs: 0,
  startsPerMinute: undefined,
  loadPerCpuMax: undefined,
  freeMemoryBytesMin: undefined,
};

export const view = (more: Partial<StartView> = {}, limits: Partial<StartView['limits']> = {}): StartView => ({
  queue: [],
  running: [],
  weights: {},
  recentStarts: [],
  breakers: {},
  quotas: {},
  needs: new Map(),
  facts: noWakeFacts,
  resumed: new Set(),
  machine: undefined,
  ...more,
  limits: {
    ...noLimits,
    ...limits,
  },
});

export const failure = (more: Partial<Failure> = {}): Failure => ({
  class: 'configuration',
  fingerprint: 'configuration auth',
  message: 'Claude Code was refused (authentication_failed).',
  resetAt: undefined,
  ...more,
});
