// The engine over SQLite as a back end of the conformance suite, in real time.
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runId } from '../../src/core/ids.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Engine, requestCancel, requestSignal, requestStart, requestState } from '../../src/journal/index.ts';
import type { Lab, LabOptions } from './conformance/lab.ts';
import { createRealTime } from './conformance/time.ts';
import { makeLab } from './lab.ts';

const killed = (): Fault => new Fault('ENGINE_STOPPED', 'The engine was killed.');

export const makeSqliteLab = (): Lab => {
  const home = makeLab();
  const { stateHome, processes } = home;
  const time = createRealTime();
  const dead = new WeakSet<Engine>();
  return {
    stateHome,
    processes,
    time,
    requests: {
      start: (request) => requestStart(stateHome, request),
      signal: (request) => requestSignal(stateHome, request),
      state: (run, want, reason) => requestState(stateHome, run, want, reason),
      cancel: (run, reason) => requestCancel(stateHome, runId(run), reason),
    },
    open: async ({ beforeCommit, afterCommit, ...options }: LabOptions = {}) => {
      let self: Engine | undefined;
      const assertAlive = (): void => {
        if (self !== undefined && dead.has(self)) throw killed();
        beforeCommit?.();
      };
      self = await home.open(
        { clock: time.now, ...options },
        { beforeCommit: assertAlive, ...(afterCommit === undefined ? {} : { afterCommit }) },
      );
      return self;
    },
    outage: () => {
      const other = new DatabaseSync(path.join(stateHome, 'journal.sqlite'));
      other.exec('BEGIN IMMEDIATE');
      return () => other.close();
    },
    crash: async (engine) => {
      dead.add(engine);
      await engine[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
};
