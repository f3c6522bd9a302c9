// What the journal costs, at full durability (WAL, synchronous = FULL, group commit). Usage: npm run bench:journal -- [--json] [--facts n] [--shapes 1x400,100x20] [--rounds n]
//
// Steps: the engine against two hand-written floors (journal-floor.ts), in turn, five rounds each, medians. Recovery and reading: a journal
// of a million facts, written by the engine itself, with ten runs left open as a dead engine leaves them.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { epochMs, runId } from '../src/core/ids.ts';
import { type Engine, type LoopHandler, openEngine, openReader, openStates } from '../src/journal/index.ts';
import type { ProcessHost } from '../src/process/index.ts';
import { openFloor } from './journal-floor.ts';
import { machineFacts, median, printTable } from './table.ts';

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean' },
    facts: { type: 'string', default: '1000000' },
    shapes: { type: 'string', default: '1x400,100x20,1000x5' },
    rounds: { type: 'string', default: '5' },
  },
});
const roundsEach = Number(flags.rounds);
const openRuns = 10;
const shapes = flags.shapes.split(',').map((shape) => {
  const [runs = 1, steps = 1] = shape.split('x').map(Number);
  return { runs, steps };
});

const noProcesses: ProcessHost = {
  open: () => Promise.reject(new Error('This bench starts no process.')),
  inspect: () => Promise.resolve('absent'),
  sweep: () => Promise.resolve(0),
  revoke: () => Promise.resolve('revoked'),
};
const open = (stateHome: string): Promise<Engine> =>
  openEngine({ stateHome, processes: noProcesses, clock: () => epochMs(Date.now()), chance: Math.random });

/** Milliseconds of some work, and what it gave. */
const timed = async <T>(work: () => T | Promise<T>): Promise<{ readonly ms: number; readonly value: T }> => {
  const began = performance.now();
  const value = await work();
  return { ms: performance.now() - began, value };
};

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gyre-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const steppingThrough = (steps: number): LoopHandler => ({
  name: 'bench',
  version: 1,
  handle: async (context) => {
    for (let index = 0; index < steps; index += 1) await context.step(`step-${index}`, {}, async () => index);
  },
});

const startRuns = async (engine: Engine, handler: LoopHandler, range: { readonly from: number; readonly count: number }): Promise<void> => {
  const ids = Array.from({ length: range.count }, (_, index) => `r${range.from + index}`);
  const handles = await Promise.all(ids.map((id) => engine.start(handler, null, { id: runId(id), dedupeKey: `task:${id}` })));
  await Promise.all(handles.map((handle) => handle.ended));
};

type Shape = (typeof shapes)[number];

const engineRound = ({ runs, steps }: Shape): Promise<{ readonly ms: number; readonly bytes: number }> =>
  inFolder(async (folder) => {
    const engine = await open(folder);
    const { ms } = await timed(() => startRuns(engine, steppingThrough(steps), { from: 0, count: runs }));
    await engine[Symbol.asyncDispose]();
    return { ms, bytes: statSync(path.join(folder, 'journal.sqlite')).size };
  });

const floorRound = ({ runs, steps }: Shape, kind: 'bare' | 'recorded'): Promise<number> =>
  inFolder(async (folder) => {
    const floor = openFloor(path.join(folder, 'floor.sqlite'), kind);
    const run = async (id: number): Promise<void> => {
      for (let index = 0; index < steps; index += 1) await floor.step(id, `step-${index}`, async () => index);
    };
    const { ms } = await timed(() => Promise.all(Array.from({ length: runs }, (_, id) => run(id))));
    floor.close();
    return ms;
  });

const compare = async (shape: Shape) => {
  const total = shape.runs * shape.steps;
  const bare: number[] = [];
  const recorded: number[] = [];
  const engines: { readonly ms: number; readonly bytes: number }[] = [];
  for (let round = 0; round < roundsEach; round += 1) {
    bare.push(await floorRound(shape, 'bare'));
    recorded.push(await floorRound(shape, 'recorded'));
    engines.push(await engineRound(shape));
  }
  const engineMs = median(engines.map(({ ms }) => ms));
  return {
    runs: shape.runs,
    steps: shape.steps,
    bareStepsPerS: Math.round((total / median(bare)) * 1_000),
    recordedStepsPerS: Math.round((total / median(recorded)) * 1_000),
    engineStepsPerS: Math.round((total / engineMs) * 1_000),
    toBare: Number((engineMs / median(bare)).toFixed(2)),
    toRecorded: Number((engineMs / median(recorded)).toFixed(2)),
    bytesPerStep: Math.round(median(engines.map(({ bytes }) => bytes)) / total),
  };
};

/** A journal of at least so many facts: ended runs of 24 steps, and some left open in the middle. */
const writeLong = async (stateHome: string, facts: number): Promise<void> => {
  const steps = 24;
  const runs = Math.ceil(facts / (2 * steps + 2));
  const engine = await open(stateHome);
  const at = 500;
  for (let from = 0; from < runs; from += at) {
    await startRuns(engine, steppingThrough(steps), { from, count: Math.min(at, runs - from) });
  }
  const { promise: atGate, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  const left: LoopHandler = {
    name: 'left',
    version: 1,
    handle: async (context) => {
      await context.step('one', {}, async () => 1);
      waiting += 1;
      if (waiting === openRuns) resolve();
      await context.sleep('long', 3_600_000);
    },
  };
  for (let index = 0; index < openRuns; index += 1) {
    const handle = await engine.start(left, null, { id: runId(`left-${index}`), dedupeKey: `left-${index}` });
    handle.ended.catch(() => {});
  }
  await atGate;
  await engine[Symbol.asyncDispose]();
};

const measureLong = (facts: number) =>
  inFolder(async (stateHome) => {
    const written = await timed(() => writeLong(stateHome, facts));
    const opened = await timed(() => open(stateHome));
    const engine = opened.value;
    const finishing: LoopHandler = { name: 'left', version: 1, handle: (context) => context.step('one', {}, async () => 2) };
    const recovered = await timed(async () => {
      const handles = await engine.recover([finishing]);
      await Promise.all(handles.map((handle) => handle.ended));
      return handles.length;
    });
    await engine[Symbol.asyncDispose]();
    const reading = await timed(() => openReader(stateHome));
    using reader = reading.value;
    if (reader === undefined) throw new Error('The bench wrote no journal.');
    const health = await timed(() => reader.health());
    const openOnes = await timed(() => reader.runs({ states: openStates }).length);
    const one = await timed(() => reader.facts({ run: 'r7' }).length);
    const all = await timed(() => reader.runs().length);
    const tail = await timed(() => reader.facts({ afterSeq: health.value.facts - 100 }).length);
    const verified = await timed(() => reader.verify());
    const ms = (value: { readonly ms: number }): number => Number(value.ms.toFixed(1));
    return {
      facts: health.value.facts,
      megabytes: Math.round(statSync(path.join(stateHome, 'journal.sqlite')).size / 1_000_000),
      chain: verified.value.ok ? 'unbroken' : `broken at ${verified.value.seq}`,
      writeMs: ms(written),
      openMs: ms(opened),
      recoverMs: ms(recovered),
      recovered: recovered.value,
      readerOpenMs: ms(reading),
      healthMs: ms(health),
      openRunsMs: ms(openOnes),
      factsOfOneRunMs: ms(one),
      lastFactsMs: ms(tail),
      allRunsMs: ms(all),
      runs: all.value,
      verifyMs: ms(verified),
    };
  });

const steps = [];
for (const shape of shapes) steps.push(await compare(shape));
const long = await measureLong(Number(flags.facts));
if (flags.json === true) {
  process.stdout.write(`${JSON.stringify({ machine: machineFacts(), steps, long })}\n`);
} else {
  process.stdout.write(`${machineFacts()}\n\n`);
  printTable(
    ['runs x steps', 'bare floor', 'recorded floor', 'engine (steps/s)', 'time to bare', 'to recorded', 'bytes/step'],
    steps.map((row) => [
      `${row.runs} x ${row.steps}`,
      String(row.bareStepsPerS),
      String(row.recordedStepsPerS),
      String(row.engineStepsPerS),
      `${row.toBare}x`,
      `${row.toRecorded}x`,
      String(row.bytesPerStep),
    ]),
  );
  process.stdout.write('\n');
  printTable(
    [`journal of ${long.facts} facts`, ''],
    Object.entries(long).map(([name, value]) => [name, String(value)]),
  );
}
