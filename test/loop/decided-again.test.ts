// Faults that only the simulator had found, each pinned on the real part with a real journal under it.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { commitSha, epochMs, runId, taskKey } from '../../src/core/ids.ts';
import type { LoopDefinition } from '../../src/core/loop-definition.ts';
import type { Task } from '../../src/core/task.ts';
import { type Engine, openEngine } from '../../src/journal/index.ts';
import { createBreakers, createDispatcher, type LoopParts, taskHandler, watchParked } from '../../src/loop/index.ts';
import { dedupeKeyOf } from '../../src/loop/admission.ts';
import { planTask } from '../../src/loop/plan-tick.ts';
import { readmit } from '../../src/loop/readmit.ts';
import { parkedRegister } from '../../src/loop/registers.ts';
import { createTestProcessHost } from '../journal/test-process-host.ts';
import { noLimits } from '../dispatch/world.ts';

const base = commitSha('a'.repeat(40));
const loop = { name: 'fix', agent: { use: 'claude' }, land: { as: 'branch' }, parallel: 4 } as unknown as LoopDefinition;
const clock = () => epochMs(Date.now());

const taskOf = (key: string, more: Partial<Task> = {}): Task => ({
  key: taskKey(key),
  title: key,
  body: '',
  evidence: '',
  priority: 0,
  touches: [],
  trust: 'repository',
  source: 'a list',
  proof: { by: 'checks' },
  ...more,
});

interface Lab extends AsyncDisposable {
  readonly engine: Engine;
  readonly parts: LoopParts;
  /** A run of a task to its end. */
  run(id: string, task: Task, output: object): Promise<void>;
}

const makeLab = async (): Promise<Lab> => {
  const stateHome = mkdtempSync(path.join(os.tmpdir(), 'gyre-loop-'));
  const engine = await openEngine({ stateHome, processes: createTestProcessHost(), clock, chance: () => 0 });
  return {
    engine,
    parts: {
      engine,
      reader: engine.reader,
      clock,
      chance: () => 0,
      resolveBase: async () => base,
      lander: { fate: async () => 'on-target' },
    } as unknown as LoopParts,
    run: async (id, task, output) => {
      const handler = { ...taskHandler, handle: async () => output };
      const input = { task, loop, tick: 'another tick' };
      await (
        await engine.start(handler, input, { id: runId(id), dedupeKey: dedupeKeyOf(task) })
      ).ended;
    },
    [Symbol.asyncDispose]: async () => {
      await engine[Symbol.asyncDispose]();
      rmSync(stateHome, { recursive: true, force: true });
    },
  };
};

test('L5 a plan that waited for its turn starts nothing that another tick has done meanwhile: no second landing', async () => {
  await using lab = await makeLab();
  const task = taskOf('sum');
  const tick = { loop, input: { trigger: 'schedule' }, startedAt: clock() };
  await lab.run('r1', task, { exit: { exit: 'goal-met' }, landed: { landed: 'merge', target: 'main', commit: base } });
  // By what stands in the journal alone, a task that is at its source again is begun anew: only the tick's start tells the two apart.
  const planned = await planTask(lab.parts, { loop, task, base, byPerson: false, records: new Map(), back: new Set([task.key]) });
  expect(planned.admit).toBe('start');
  expect(await readmit(lab.parts, tick, task)).toMatchObject({ admit: 'skip', why: 'run r1 has done it meanwhile' });
  const younger = { ...tick, startedAt: epochMs(Date.now() + 60_000) };
  expect(await readmit(lab.parts, younger, task)).toMatchObject({ admit: 'start' });
});

test('L9 a tick ends although what a task of it needs was left behind that task', async () => {
  await using lab = await makeLab();
  const claims = { hold: () => Promise.reject(new Error('nothing is started here')), close: async () => {} };
  const dispatcher = createDispatcher(lab.parts, {
    handler: { ...taskHandler, handle: async () => undefined },
    limits: noLimits,
    weights: {},
    breakers: createBreakers(lab.parts),
    claims,
    machine: () => ({ loadPerCpu: 0, freeMemoryBytes: 1e12 }),
    after: () => ({ cancel: () => {} }),
  });
  const left: string[] = [];
  // Looked at first, while what it needs still stands in the queue.
  const first = taskOf('first', { priority: 2, needs: [taskKey('second')] });
  const second = taskOf('second', { priority: 1, needs: [taskKey('nobody-knows')] });
  const performed = dispatcher.perform({
    tick: runId('t1'),
    loop,
    prefix: '',
    base,
    plans: [first, second].map((task) => ({ admit: 'start', task })),
    readmit: async (task) => ({ admit: 'start', task }),
    signal: new AbortController().signal,
    processes: () => Promise.reject(new Error('nothing is run here')),
    report: (event) => {
      if (event.event === 'skipped') left.push(event.task.key);
    },
  });
  const end = await Promise.race([performed, delay(10_000, 'the tick does not end', { ref: false })]);
  expect(end).toEqual({ runs: [], halted: undefined });
  expect(left.toSorted()).toEqual(['first', 'second']);
});

test('L11 the note of a parked run stays until the run has gone on: a tick that had to leave it loses no retry', async () => {
  await using lab = await makeLab();
  const { engine } = lab;
  const task = taskOf('sum');
  await lab.run('r1', task, { exit: { exit: 'parked', why: 'the provider did not serve' }, again: 'next-tick' });
  await engine.put([{ register: parkedRegister, key: 'r1', value: { wake: { on: 'time', at: clock() }, generation: 1 } }]);
  const woken: string[] = [];
  const looks: (() => void)[] = [];
  const watch = watchParked({
    engine,
    desk: { wake: async (row) => void woken.push(row.id), hasWoken: (row) => woken.includes(row.id) },
    clock,
    timers: { after: (_ms, act) => (looks.push(act), { cancel: () => {} }) },
    tell: () => {},
  });
  const look = async (count: number): Promise<void> => {
    for (const until = Date.now() + 10_000; looks.length < count && Date.now() < until; await delay(5));
    expect(looks.length).toBe(count);
  };
  await look(1);
  expect(woken).toEqual(['r1']);
  looks[0]?.();
  await look(2);
  expect(woken).toEqual(['r1']);
  // The tick that was to go on with it was refused a place: the note is what the next one finds.
  expect(engine.reader.registerEntry(parkedRegister, 'r1')).toBeDefined();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const again = await engine.reopen({ ...taskHandler, handle: () => gate }, runId('r1'), { task, loop, tick: 't2' });
  looks[1]?.();
  await look(3);
  expect(engine.reader.registerEntry(parkedRegister, 'r1')).toBeUndefined();
  open();
  await again.ended;
  watch();
});
