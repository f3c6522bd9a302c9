// What the tests of the journal share: a state home that is removed, engines that are closed, and a bounded wait.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { epochMs, runId } from '../../src/core/ids.ts';
import { type EngineTestOptions, openEngineWith } from '../../src/journal/open-engine.ts';
import type { Engine, EngineOptions, LoopHandler, RequestCancel } from '../../src/journal/index.ts';
import { requestCancel } from '../../src/journal/index.ts';
import { createTestProcessHost, type TestProcessHost } from './test-process-host.ts';

export interface Lab extends AsyncDisposable {
  readonly stateHome: string;
  readonly processes: TestProcessHost;
  readonly requestCancel: RequestCancel;
  /** Opens the back end under test; the lab closes it. */
  open(options?: Partial<EngineOptions>, test?: EngineTestOptions): Promise<Engine>;
}

export const makeLab = (name = 'gyre-journal ä '): Lab => {
  const root = mkdtempSync(path.join(os.tmpdir(), name));
  const stateHome = path.join(root, 'state');
  const processes = createTestProcessHost();
  const engines: Engine[] = [];
  return {
    stateHome,
    processes,
    requestCancel,
    open: async (options = {}, test = {}) => {
      const defaults = { stateHome, processes, clock: () => epochMs(Date.now()), chance: () => Math.random() };
      const engine = await openEngineWith({ ...defaults, ...options }, test);
      engines.push(engine);
      return engine;
    },
    [Symbol.asyncDispose]: async () => {
      for (const engine of engines) await engine[Symbol.asyncDispose]();
      rmSync(root, { recursive: true, force: true });
    },
  };
};

export const loop = (handle: LoopHandler['handle'], name = 'test-loop'): LoopHandler => ({ name, version: 1, handle });

export const start = { id: runId('r1'), dedupeKey: 'task-1' };

/** Polls until it holds; fails after 20 s. */
export const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (let waitedMs = 0; !holds(); waitedMs += 10) {
    if (waitedMs > 20_000) throw new Error(`Waited 20 s for: ${what}`);
    await delay(10);
  }
};

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
