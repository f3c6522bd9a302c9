// What a person, or another part of the program, does with runs and registers from outside of a handler.
import { Fault } from '../../core/fault.ts';
import type { Engine, LoopHandler, RegisterChange, RunHandle } from '../port.ts';
import type { Launcher } from './launcher.ts';
import type { Life, Write } from './life.ts';
import { fromText, inFact, toText } from './payload.ts';
import { changeRow, isEnded, openByDedupeKey, runOf, stepsOf } from './rows.ts';
import { openAgain } from './run-records.ts';
import { storeSignal } from './signals.ts';
import type { MemoryRun, MemoryState } from './state.ts';

export type Controls = Pick<Engine, 'signal' | 'pause' | 'resume' | 'decide' | 'retryFrom' | 'put' | 'purge'>;

interface ControlOptions {
  readonly launcher: Launcher;
  readonly handleOf: (id: string) => RunHandle;
  readonly handlerOf: (run: MemoryRun) => LoopHandler | undefined;
}

const unknown = (id: string): Fault => new Fault('RUN_UNKNOWN', `There is no run ${id} in this journal.`, { data: { run: id } });

/** @throws Fault RUN_UNKNOWN, RUN_OPEN, RUN_DUPLICATE */
export const assertReopenable = (state: MemoryState, id: string): MemoryRun => {
  const run = state.runs.get(id);
  if (run === undefined) throw unknown(id);
  if (!isEnded(run)) throw new Fault('RUN_OPEN', `Run ${id} has not ended, so that it cannot be opened again.`, { data: { run: id } });
  const rival = openByDedupeKey(state, run.row.dedupeKey);
  if (rival !== undefined) {
    throw new Fault('RUN_DUPLICATE', `Run ${id} cannot be opened again while run ${rival.row.id} does the same work.`, {
      data: { run: id, rival: rival.row.id },
    });
  }
  return run;
};

/** Part of a write; also what `requestState` does. @returns whether an open run was asked */
export const pauseRun = (state: MemoryState, id: string, told: { readonly reason: string; readonly write: Write }): boolean => {
  const run = state.runs.get(id);
  if (run === undefined || isEnded(run)) return false;
  if (run.row.state !== 'running' && run.row.state !== 'pending') return true;
  changeRow(state, id, { state: 'paused' });
  told.write.fact('run.paused', id, { generation: run.row.generation, reason: told.reason });
  return true;
};

export const resumeRun = (state: MemoryState, id: string, write: Write): boolean => {
  const run = state.runs.get(id);
  if (run === undefined || isEnded(run)) return false;
  if (run.row.state !== 'paused' && run.row.state !== 'needs-attention') return true;
  changeRow(state, id, { state: run.begun ? 'running' : 'pending', attention: undefined });
  write.fact('run.unpaused', id, { generation: run.row.generation });
  return true;
};

/** Part of a write: all or nothing. */
const applyChanges = (state: MemoryState, changes: readonly RegisterChange[], write: Write): boolean => {
  const entryOf = ({ register, key }: RegisterChange) => state.registers.get(register)?.get(key);
  if (changes.some((change) => change.expect !== undefined && change.expect !== (entryOf(change)?.revision ?? 0))) return false;
  for (const change of changes) {
    const { register, key } = change;
    const text = toText(change.value, `The value ${key} of register ${register}`);
    const entries = state.registers.get(register) ?? new Map();
    state.registers.set(register, entries);
    const revision = (entryOf(change)?.revision ?? 0) + 1;
    if (text === undefined) entries.delete(key);
    else entries.set(key, { key, value: fromText(text), revision, changedAt: write.now });
    write.fact('register.changed', '', { register, key, revision, value: inFact(text) });
  }
  return true;
};

/** @returns the bytes of what was kept of a run */
const purgeRun = (state: MemoryState, id: string, write: Write): number => {
  const bytes = JSON.stringify([...stepsOf(state, id).values()]).length;
  state.steps.delete(id);
  const isOther = (row: { readonly run: string }): boolean => row.run !== id;
  state.signals.splice(0, Infinity, ...state.signals.filter((signal) => isOther(signal)));
  state.streams.splice(0, Infinity, ...state.streams.filter((event) => isOther(event)));
  changeRow(state, id, { purgedAt: write.now });
  return bytes;
};

export const createControls = (life: Life, { launcher, handleOf, handlerOf }: ControlOptions): Controls => {
  const { state } = life;

  /** A run that nobody executes is executed again, where its handler is known. */
  const goOn = (id: string): void => {
    const handler = handlerOf(runOf(state, id));
    if (handler !== undefined) launcher.launch(id, handler);
  };

  return {
    signal: (run, name, payload, options = {}) =>
      life.write((write) => storeSignal(state, { run, name, payload, ...options, at: write.now })),
    pause: async (id, reason) => {
      await life.write((write) => pauseRun(state, id, { reason, write }));
    },
    resume: async (id, { budget } = {}) => {
      const run = state.runs.get(id);
      if (run === undefined) throw unknown(id);
      if (isEnded(run)) throw new Fault('RUN_ENDED', `Run ${id} has ended.`, { data: { run: id } });
      await life.write((write) => {
        if (budget !== undefined) changeRow(state, id, { budget });
        resumeRun(state, id, write);
      });
      goOn(id);
    },
    decide: async (id, key, decision) => {
      const run = state.runs.get(id);
      if (run === undefined) throw unknown(id);
      const step = stepsOf(state, id).get(key);
      if (step === undefined || run.row.attention?.code !== 'STEP_UNKNOWN' || run.row.attention.step !== key) {
        throw new Fault('STEP_NOT_ASKED', `Run ${id} asks nothing about the step ${key}.`, { data: { run: id, step: key } });
      }
      const text = decision === 'perform-again' ? undefined : toText(decision.outcome, `The outcome of step ${key}`);
      await life.write((write) => {
        const { generation } = run.row;
        if (decision === 'perform-again') {
          stepsOf(state, id).set(key, { ...step, plan: { ...step.plan, again: true } });
          write.fact('step.decided', id, { key, generation, decision });
        } else {
          stepsOf(state, id).set(key, { ...step, state: 'done', generation, outcome: text });
          write.fact('step.completed', id, {
            key,
            kind: step.kind,
            generation,
            performance: step.performed,
            decided: true,
            outcome: inFact(text),
          });
        }
        resumeRun(state, id, write);
      });
      goOn(id);
    },
    retryFrom: async (id, key) => {
      const run = assertReopenable(state, id);
      const steps = stepsOf(state, id);
      const from = steps.get(key);
      if (from === undefined) throw new Fault('STEP_UNKNOWN', `Run ${id} has no step ${key}.`, { data: { run: id, step: key } });
      const handler = handlerOf(run);
      if (handler === undefined) throw new Fault('HANDLER_UNKNOWN', `Nobody gave a handler of the loop ${run.row.loop} here.`);
      await life.write((write) => {
        for (const step of steps.values()) if (step.ord >= from.ord) steps.delete(step.key);
        openAgain(state, id, { handler, input: run.row.input, write });
      });
      launcher.launch(id, handler);
      return handleOf(id);
    },
    put: (changes) => life.write((write) => applyChanges(state, changes, write)),
    purge: ({ before, keep = [] }) =>
      life.write((write) => {
        const gone = [...state.runs.values()].filter(
          ({ row }) => row.endedAt !== undefined && row.endedAt < before && row.purgedAt === undefined && !keep.includes(row.state),
        );
        const bytes = gone.reduce((total, { row }) => total + purgeRun(state, row.id, write), 0);
        return { runs: gone.length, bytes };
      }),
  };
};
