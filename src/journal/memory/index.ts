// A journal in memory with the same door as the one on disk: the model that the conformance suite compares with, and what tests and
// simulations of other parts open when they want an engine in no time. The program itself never imports it.
import { Fault } from '../../core/fault.ts';
import { epochMs, type EpochMs, runId } from '../../core/ids.ts';
import type { Engine, JournalReader, RunRow, SignalReceipt, SignalRequest, StartRequest } from '../port.ts';
import { pauseRun, resumeRun } from './controls.ts';
import { createMemoryEngine } from './engine.ts';
import { appendFact, type Life, type MemoryOptions, openLife, tellChange, type Write } from './life.ts';
import { createMemoryReader } from './reader.ts';
import { isEnded, openByDedupeKey, putRun } from './rows.ts';
import { newRun } from './run-records.ts';
import { storeSignal } from './signals.ts';
import { emptyState } from './state.ts';
import { canonicalJson } from '../chain.ts';
import { fromText, toText } from './payload.ts';

export type { MemoryOptions } from './life.ts';

/** What outlives its engines. The requests are those of other processes (see the types of the same names in the port). */
export interface MemoryJournal {
  readonly reader: JournalReader;
  /** @throws Fault STATE_HOME_HELD while another engine lives */
  open(options: MemoryOptions): Promise<Engine>;
  /** Ends an engine as a kill does: what it was about to write is not written, and what it wrote stays. */
  crash(engine: Engine): void;
  readonly requestStart: (request: StartRequest) => { readonly run: RunRow['id']; readonly existing: boolean };
  readonly requestSignal: (request: SignalRequest) => SignalReceipt;
  readonly requestCancel: (run: string, reason: string) => boolean;
  readonly requestState: (run: string, want: 'pause' | 'resume', reason: string) => boolean;
}

/** @param clock stamps what other processes ask for */
export const createMemoryJournal = (clock: () => EpochMs): MemoryJournal => {
  const state = emptyState();
  const lives = new WeakMap<Engine, Life>();

  /** A change by another process. */
  const change = <T>(work: (write: Write) => T): T => {
    const now = epochMs(Math.floor(clock()));
    const result = work({ now, fact: (kind, run, data) => appendFact(state, { at: now, kind, run, data: canonicalJson(data) }) });
    tellChange(state);
    return result;
  };

  return {
    reader: createMemoryReader(state),
    open: async (options) => {
      await Promise.resolve();
      if (state.owner.held) throw new Fault('STATE_HOME_HELD', 'The journal in memory is held by another engine.');
      const life = openLife(state, options);
      const engine = createMemoryEngine(life);
      lives.set(engine, life);
      return engine;
    },
    crash: (engine) => {
      lives.get(engine)?.stop(new Fault('ENGINE_STOPPED', 'The engine was killed.'));
      if (state.owner.epoch === lives.get(engine)?.epoch) state.owner = { ...state.owner, held: false };
    },
    requestStart: (asked) =>
      change(({ now }) => {
        const existing = state.runs.get(asked.id) ?? openByDedupeKey(state, asked.dedupeKey);
        if (existing !== undefined) return { run: existing.row.id, existing: true };
        const input = fromText(toText(asked.input, `The input of run ${asked.id}`));
        putRun(state, newRun({ ...asked, loop: asked.handler, input, now, state: 'pending' }));
        return { run: runId(asked.id), existing: false };
      }),
    requestSignal: (asked) => change(({ now }) => storeSignal(state, { ...asked, at: now })),
    requestCancel: (id, reason) =>
      change(() => {
        const run = state.runs.get(id);
        if (run === undefined || isEnded(run)) return false;
        putRun(state, { ...run, cancel: run.cancel ?? { reason, noted: false, children: undefined } });
        return true;
      }),
    requestState: (id, want, reason) =>
      change((write) => (want === 'pause' ? pauseRun(state, id, { reason, write }) : resumeRun(state, id, write))),
  };
};
