// Steps per second of the journal at full durability (WAL, synchronous = FULL, group commit). Usage: node bench/journal.ts [--json]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { epochMs, runId } from '../src/core/ids.ts';
import { type LoopHandler, openEngine } from '../src/journal/index.ts';
import type { ProcessHost } from '../src/process/index.ts';

const stepsPerRun = 5;
const rounds = [
  { runs: 1, steps: 400 },
  { runs: 10, steps: stepsPerRun * 20 },
  { runs: 1_000, steps: stepsPerRun },
];

const noProcesses: ProcessHost = {
  open: () => Promise.reject(new Error('This bench starts no process.')),
  inspect: () => Promise.resolve('absent'),
  sweep: () => Promise.resolve(0),
  revoke: () => Promise.resolve('revoked'),
};

const measure = async ({ runs, steps }: { readonly runs: number; readonly steps: number }) => {
  const stateHome = mkdtempSync(path.join(os.tmpdir(), 'gyre-bench-'));
  const began = performance.now();
  const engine = await openEngine({ stateHome, processes: noProcesses, clock: () => epochMs(Date.now()), chance: Math.random });
  const opened = performance.now();
  const handler: LoopHandler = {
    name: 'bench',
    version: 1,
    handle: async (context) => {
      for (let index = 0; index < steps; index += 1) await context.step(`step-${index}`, {}, async () => index);
    },
  };
  const handles = await Promise.all(
    Array.from({ length: runs }, (_, index) => engine.start(handler, null, { id: runId(`r${index}`), dedupeKey: `t${index}` })),
  );
  await Promise.all(handles.map((handle) => handle.ended));
  const ended = performance.now();
  const verifyBegan = performance.now();
  const verified = engine.reader.verify();
  const verifyMs = performance.now() - verifyBegan;
  await engine[Symbol.asyncDispose]();
  const bytes = statSync(path.join(stateHome, 'journal.sqlite')).size;
  rmSync(stateHome, { recursive: true, force: true });
  const total = runs * steps;
  return {
    runs,
    'steps each': steps,
    'steps/s': Math.round((total / (ended - opened)) * 1_000),
    'open ms': Math.round(opened - began),
    'bytes/step': Math.round(bytes / total),
    facts: verified.ok ? verified.facts : `broken at ${verified.seq}`,
    'verify ms': Math.round(verifyMs),
  };
};

const rows = [];
for (const round of rounds) rows.push(await measure(round));
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`);
else console.table(rows);
