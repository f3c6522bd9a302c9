// One database in memory under engine after engine, and a time that stands still but for `pass`: for tests that crash engines by the hundred.
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import os from 'node:os';
import path from 'node:path';
import type { Engine, EngineOptions, JournalReader } from '../../src/journal/index.ts';
import { openEngineWith } from '../../src/journal/open-engine.ts';
import type { CrashPoints } from '../../src/journal/store.ts';
import { createFakeTime } from './conformance/time.ts';
import { createTestProcessHost } from './test-process-host.ts';

export const makeGround = () => {
  const stateHome = mkdtempSync(path.join(os.tmpdir(), 'gyre-ground-'));
  const db = new DatabaseSync(':memory:');
  const time = createFakeTime();
  const engines: Engine[] = [];
  const processes = createTestProcessHost();
  const identity = { pid: 1, startTime: '1', bootId: 'test' };
  return {
    db,
    time,
    open: async (options: Partial<EngineOptions> = {}, crashPoints: CrashPoints = {}): Promise<Engine> => {
      const defaults = { stateHome, processes, clock: time.now, chance: () => 0.25, timers: time.timers };
      const engine = await openEngineWith({ ...defaults, ...options }, { memory: { db, identity }, ...crashPoints });
      engines.push(engine);
      return engine;
    },
    /** Lets time pass until it holds; fails after 3,000 steps. */
    passUntil: async (what: string, stepMs: number, holds: () => boolean): Promise<void> => {
      for (let steps = 0; !holds(); steps += 1) {
        if (steps > 3_000) throw new Error(`Waited ${steps * stepMs} ms for: ${what}`);
        await time.pass(stepMs);
      }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      for (const engine of engines) await engine[Symbol.asyncDispose]();
      db.close();
      rmSync(stateHome, { recursive: true, force: true });
    },
  };
};

export const factsOf = (reader: JournalReader, kind: string) =>
  reader.facts().filter((fact) => fact.kind === kind) as readonly { run: string; data: Record<string, unknown> }[];
