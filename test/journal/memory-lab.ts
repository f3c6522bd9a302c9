// The model as a back end of the conformance suite. Only its processes are real.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Engine } from '../../src/journal/index.ts';
import { createMemoryJournal } from '../../src/journal/memory/index.ts';
import type { Lab } from './conformance/lab.ts';
import { createFakeTime } from './conformance/time.ts';
import { createTestProcessHost } from './test-process-host.ts';

export const makeMemoryLab = (): Lab => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'gyre-memory-'));
  const stateHome = path.join(root, 'state');
  const processes = createTestProcessHost();
  const time = createFakeTime();
  const journal = createMemoryJournal(time.now);
  const engines: Engine[] = [];
  let isAway = false;
  const close = async (engine: Engine): Promise<void> => {
    const closed = engine[Symbol.asyncDispose]();
    await time.pass(0);
    await closed;
  };
  return {
    stateHome,
    processes,
    time,
    requests: { start: journal.requestStart, signal: journal.requestSignal, cancel: journal.requestCancel, state: journal.requestState },
    open: async (options = {}) => {
      const engine = await journal.open({
        stateHome,
        processes,
        clock: time.now,
        timers: time.timers,
        chance: () => Math.random(),
        isAway: () => isAway,
        ...options,
      });
      engines.push(engine);
      return engine;
    },
    outage: () => {
      isAway = true;
      return () => void (isAway = false);
    },
    crash: async (engine) => {
      journal.crash(engine);
      await time.pass(0);
    },
    [Symbol.asyncDispose]: async () => {
      for (const engine of engines) await close(engine);
      rmSync(root, { recursive: true, force: true });
    },
  };
};
