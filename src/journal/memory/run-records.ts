// What is written when a run is asked for, begins, opens again and ends. Each function is part of a write.
import type { EpochMs } from '../../core/ids.ts';
import type { ErrorRecord } from '../error-record.ts';
import type { LoopHandler, RunState, StartOptions } from '../port.ts';
import { releaseReserved } from './budget.ts';
import type { Write } from './life.ts';
import { valueInFact } from './payload.ts';
import { changeRow, putRun, runOf, stepsOf } from './rows.ts';
import type { MemoryRun, MemoryState } from './state.ts';

export interface NewRun extends StartOptions {
  readonly loop: string;
  readonly version: number;
  readonly input: unknown;
  readonly now: EpochMs;
  readonly state: RunState;
}

export const newRun = (asked: NewRun): MemoryRun => ({
  row: {
    id: asked.id,
    loop: asked.loop,
    version: asked.version,
    state: asked.state,
    generation: 1,
    dedupeKey: asked.dedupeKey,
    input: asked.input,
    view: {},
    output: undefined,
    error: undefined,
    startedAt: asked.now,
    endedAt: undefined,
    parent: undefined,
    priority: asked.priority ?? 0,
    labels: asked.labels ?? {},
    deadlineAt: asked.deadlineAt,
    budget: asked.budget ?? {},
    spent: {},
    attention: undefined,
    purgedAt: undefined,
  },
  cancel: undefined,
  onParentCancel: 'cancel',
  detached: false,
  begun: false,
  onLimit: asked.onLimit ?? 'park',
  reserved: {},
});

/** The first execution begins. */
export const beginRun = (state: MemoryState, id: string, write: Write): void => {
  const { row } = runOf(state, id);
  changeRow(state, id, { state: 'running' });
  putRun(state, { ...runOf(state, id), begun: true });
  const { generation, loop, version, dedupeKey, input } = row;
  write.fact('run.started', id, { generation, loop, version, dedupeKey, input: valueInFact(input) });
};

interface Opening {
  readonly handler: Pick<LoopHandler, 'name' | 'version'>;
  readonly input: unknown;
  readonly write: Write;
}

const anew = { state: 'running', output: undefined, error: undefined, endedAt: undefined, attention: undefined } as const;

/** The next generation of an ended run. */
export const openAgain = (state: MemoryState, id: string, { handler, input, write }: Opening): void => {
  const generation = runOf(state, id).row.generation + 1;
  changeRow(state, id, { ...anew, generation, version: handler.version, input });
  write.fact('run.reopened', id, { generation, loop: handler.name, version: handler.version, input: valueInFact(input) });
};

/** The next generation of a run that asked for it: nothing recorded is kept. */
export const continueRun = (state: MemoryState, id: string, { input, write }: Pick<Opening, 'input' | 'write'>): void => {
  const generation = runOf(state, id).row.generation + 1;
  stepsOf(state, id).clear();
  changeRow(state, id, { ...anew, generation, input });
  write.fact('run.continued', id, { generation, input: valueInFact(input) });
};

export interface RunEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly output: unknown;
  readonly error: ErrorRecord | undefined;
}

export const endRun = (state: MemoryState, id: string, { end, write }: { readonly end: RunEnd; readonly write: Write }): void => {
  releaseReserved(state, id);
  state.waits.delete(id);
  changeRow(state, id, { ...end, attention: undefined, endedAt: write.now });
  putRun(state, { ...runOf(state, id), cancel: undefined });
  write.fact('run.ended', id, { generation: runOf(state, id).row.generation, ...end, output: valueInFact(end.output) });
};

/** Notes a cancel, once a generation. */
export const noteCancel = (
  state: MemoryState,
  id: string,
  asked: { reason: string; children?: 'cancel' | 'leave'; write: Write },
): void => {
  const run = runOf(state, id);
  if (run.row.endedAt !== undefined || run.cancel?.noted === true) return;
  const reason = (run.cancel?.reason ?? asked.reason).slice(0, 1_000).toWellFormed();
  putRun(state, { ...run, cancel: { reason, noted: true, children: asked.children ?? run.cancel?.children } });
  asked.write.fact('run.cancel-requested', id, { generation: run.row.generation, reason });
};
