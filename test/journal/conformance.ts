// What every back end of the durable door must do. A new back end calls `engineConformance` with its own lab.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Defect, Fault } from '../../src/core/fault.ts';
import { epochMs, runId } from '../../src/core/ids.ts';
import { CancelledError } from '../../src/journal/index.ts';
import { aborted, type Lab, loop, start, until } from './lab.ts';
import { shellSpec } from './test-process-host.ts';

const kindsOf = (facts: readonly { readonly kind: string }[]): readonly string[] => facts.map((fact) => fact.kind);

export const engineConformance = (name: string, makeLab: () => Lab): void => {
  describe(`conformance: ${name}`, () => {
    test('L5 a recorded effect is not performed again, and its outcome comes back as plain JSON', async () => {
      await using lab = makeLab();
      const first = await lab.open();
      let performed = 0;
      let isBlocked = true;
      const seen: unknown[] = [];
      const handler = loop(async (ctx) => {
        const outcome = await ctx.step('build', {}, async () => {
          performed += 1;
          return { at: new Date(0), list: [1, undefined], gone: undefined };
        });
        seen.push(outcome);
        await ctx.step('nothing', {}, async () => {});
        if (isBlocked) await aborted(ctx.signal);
        ctx.signal.throwIfAborted();
        return { performed };
      });
      const handle = await first.start(handler, null, start);
      await until('the step is recorded', () => seen.length === 1);
      await first[Symbol.asyncDispose]();
      await expect(handle.ended).rejects.toMatchObject({ code: 'ENGINE_DISPOSED' });
      isBlocked = false;
      const second = await lab.open();
      const [resumed] = await second.recover([handler]);
      const run = await resumed?.ended;
      expect(run).toMatchObject({ state: 'done', output: { performed: 1 } });
      expect(seen).toEqual([
        { at: '1970-01-01T00:00:00.000Z', list: [1, null] },
        { at: '1970-01-01T00:00:00.000Z', list: [1, null] },
      ]);
    });

    test('L5 the intent is on disk before the effect starts', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      let before: readonly string[] = [];
      const handler = loop(async (ctx) => {
        await ctx.step('push', {}, async ({ idempotencyKey }) => {
          before = kindsOf(engine.reader.facts({ run: 'r1' }));
          return idempotencyKey;
        });
      });
      await (
        await engine.start(handler, {}, start)
      ).ended;
      expect(before).toEqual(['run.started', 'step.intended']);
      expect(kindsOf(engine.reader.facts({ run: 'r1' }))).toEqual(['run.started', 'step.intended', 'step.completed', 'run.ended']);
      expect(engine.reader.facts({ run: 'r1' })[2]?.data).toMatchObject({ key: 'push', outcome: 'r1/push' });
    });

    test('JNL-01 the same key twice in one execution is a defect and fails the run, even when caught', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      const handler = loop(async (ctx) => {
        await ctx.step('a', {}, async () => 1);
        await expect(ctx.now('a')).rejects.toThrow(Defect);
        return 'went on';
      });
      const run = await (await engine.start(handler, null, start)).ended;
      expect(run).toMatchObject({ state: 'failed', error: { code: 'DEFECT' }, output: undefined });
      expect(run.error?.message).toContain('"a" is used twice');
    });

    test('JNL-02 a failed step is recorded and rethrown on replay; a reopened run performs it again', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      let calls = 0;
      let doneCalls = 0;
      const handler = loop(async (ctx, input) => {
        await ctx.step('before', {}, async () => void (doneCalls += 1));
        return ctx.step('fetch', {}, async () => {
          calls += 1;
          if (input === 'bad') throw new Fault('NO_ROUTE', 'No route to host.', { hint: 'Plug it in.' });
          return 'fetched';
        });
      });
      const failed = await (await engine.start(handler, 'bad', start)).ended;
      expect(failed).toMatchObject({ state: 'failed', error: { code: 'NO_ROUTE', message: 'No route to host.', hint: 'Plug it in.' } });
      const again = await (await engine.reopen(handler, start.id, 'good')).ended;
      expect(again).toMatchObject({ state: 'done', generation: 2, output: 'fetched', error: undefined, input: 'good' });
      expect([calls, doneCalls]).toEqual([2, 1]);
      await expect(engine.reopen(handler, runId('nobody'), 1)).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
    });

    test('JNL-03 the failure of a step reaches the handler the same way on the first execution and on a replay', async () => {
      await using lab = makeLab();
      const seen: unknown[] = [];
      let calls = 0;
      let isBlocked = true;
      const handler = loop(async (ctx) => {
        await ctx
          .step('fetch', {}, async () => {
            calls += 1;
            throw Object.assign(new Error('gone'), { code: 'ENOENT' });
          })
          .catch((error: unknown) => seen.push(error));
        if (isBlocked) await aborted(ctx.signal);
        ctx.signal.throwIfAborted();
      });
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('the failure is seen', () => seen.length === 1);
      await first[Symbol.asyncDispose]();
      isBlocked = false;
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'done' });
      expect(calls).toBe(1);
      for (const error of seen) expect(error).toMatchObject({ name: 'Fault', code: 'ENOENT', message: 'gone' });
      expect(seen).toHaveLength(2);
    });

    test('JNL-04 the same id, or the dedupe key of an open run, starts nothing', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      let executions = 0;
      const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
      const handler = loop(async () => {
        executions += 1;
        await gate;
        return executions;
      });
      const handles = await Promise.all([
        engine.start(handler, null, start),
        engine.start(handler, null, start),
        engine.start(handler, null, { ...start, id: runId('r2') }),
      ]);
      openGate();
      const runs = await Promise.all(handles.map((handle) => handle.ended));
      expect(runs.map((run) => run.id)).toEqual(['r1', 'r1', 'r1']);
      expect(executions).toBe(1);
      const later = await (await engine.start(handler, null, { ...start, id: runId('r3') })).ended;
      expect(later.id).toBe('r3');
      await expect(engine.reopen(handler, start.id, null).then((handle) => handle.ended)).resolves.toMatchObject({ generation: 2 });
    });

    test('JNL-05 clock, chance, facts and sleeps are recorded once', async () => {
      await using lab = makeLab();
      const values: unknown[] = [];
      let isBlocked = true;
      const handler = loop(async (ctx) => {
        const value = { now: await ctx.now('t'), random: await ctx.random('d') };
        await ctx.record('verdict', 'verdict.given', { pass: true });
        await ctx.sleep('nap', 30);
        values.push(value);
        ctx.set('phase', 'resting');
        if (isBlocked) await aborted(ctx.signal);
        ctx.signal.throwIfAborted();
      });
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('the first pass', () => values.length === 1);
      await first[Symbol.asyncDispose]();
      isBlocked = false;
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'done', view: { phase: 'resting' } });
      expect(values[1]).toEqual(values[0]);
      expect(second.reader.facts({ run: 'r1' }).filter((fact) => fact.kind === 'verdict.given')).toHaveLength(1);
    });

    test('JNL-06 a cancel written by anyone reaches the step, ends the run `cancelled`, and the cleanups run last in first out', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      const trail: string[] = [];
      const handler = loop(async (ctx) => {
        ctx.cleanup('close-a', async () => void trail.push('close-a'));
        ctx.cleanup('close-b', async () => void trail.push('close-b'));
        await ctx.step('wait', {}, async ({ signal }) => {
          trail.push('waiting');
          await aborted(signal);
          throw new Error('torn down');
        });
      });
      const handle = await engine.start(handler, null, start);
      await until('the step waits', () => trail.length === 1);
      expect(lab.requestCancel(lab.stateHome, start.id, 'enough')).toBe(true);
      const run = await handle.ended;
      expect(run).toMatchObject({ state: 'cancelled', error: { code: 'CANCELLED', message: 'enough' } });
      expect(trail).toEqual(['waiting', 'close-b', 'close-a']);
      const kinds = kindsOf(engine.reader.facts({ run: 'r1' }));
      expect(kinds).toContain('run.cancel-requested');
      expect(kinds).not.toContain('step.failed');
      expect(lab.requestCancel(lab.stateHome, start.id, 'again')).toBe(false);
      expect(lab.requestCancel(lab.stateHome, runId('nobody'), 'x')).toBe(false);
    });

    test('JNL-07 a cancelled run that is opened again performs the cancelled step anew and keeps the recorded ones', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      const trail: string[] = [];
      const handler = loop(async (ctx, input) => {
        ctx.cleanup('tidy', async () => void trail.push('tidy'));
        await ctx.step('one', {}, async () => void trail.push('one'));
        await ctx.step('two', {}, async ({ signal }) => {
          trail.push('two');
          if (input === 'block') await aborted(signal);
          signal.throwIfAborted();
        });
      });
      const handle = await engine.start(handler, 'block', start);
      await until('step two runs', () => trail.includes('two'));
      await engine.cancelAll('shutdown');
      expect(await handle.ended).toMatchObject({ state: 'cancelled' });
      expect(await (await engine.reopen(handler, start.id, 'go')).ended).toMatchObject({ state: 'done' });
      expect(trail).toEqual(['one', 'two', 'tidy', 'two', 'tidy']);
    });

    test('JNL-08 a cancel asked for while no engine lives is obeyed by the next one', async () => {
      await using lab = makeLab();
      const trail: string[] = [];
      const handler = loop(async (ctx) => {
        ctx.cleanup('tidy', async () => void trail.push('tidy'));
        await ctx.step('one', {}, async () => void trail.push('one'));
        await ctx.step('two', {}, async ({ signal }) => {
          trail.push('two');
          await aborted(signal);
          signal.throwIfAborted();
        });
      });
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('step two runs', () => trail.includes('two'));
      await first[Symbol.asyncDispose]();
      expect(lab.requestCancel(lab.stateHome, start.id, 'while down')).toBe(true);
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'cancelled', error: { message: 'while down' } });
      expect(trail).toEqual(['one', 'two', 'tidy']);
    });

    test('JNL-09 a CancelledError thrown by the handler ends the run `cancelled`', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      const handle = await engine.start(
        loop(() => Promise.reject(new CancelledError('not today'))),
        null,
        start,
      );
      expect(await handle.ended).toMatchObject({ state: 'cancelled', error: { message: 'not today' } });
    });

    test('JNL-10 a cleanup that fails is said on the run, and the others still run', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      const trail: string[] = [];
      const handler = loop(async (ctx) => {
        ctx.cleanup('first', async () => void trail.push('first'));
        ctx.cleanup('second', () => Promise.reject(new Error('folder is busy')));
        return 'ok';
      });
      const run = await (await engine.start(handler, null, start)).ended;
      expect(run).toMatchObject({ state: 'done', output: 'ok', error: { code: 'CLEANUP_FAILED' } });
      expect(trail).toEqual(['first']);
    });

    test('JNL-11 reconcile is asked before an effect of unknown outcome is performed again', async () => {
      await using lab = makeLab();
      const trail: string[] = [];
      let world: string | undefined;
      const handler = loop((ctx) =>
        ctx.step('pull-request', { onCrash: { reconcile: async () => (trail.push('look'), world) } }, async ({ signal }) => {
          trail.push('create');
          world = '#7';
          await aborted(signal);
          throw new Error('the answer never came');
        }),
      );
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('the effect has happened', () => world !== undefined);
      await first[Symbol.asyncDispose]();
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'done', output: '#7' });
      expect(trail).toEqual(['create', 'look']);
    });

    test('JNL-12 recover leaves runs of unknown loops as they are', async () => {
      await using lab = makeLab();
      const handler = loop(async (ctx) => aborted(ctx.signal).then(() => ctx.signal.throwIfAborted()));
      const first = await lab.open();
      await first.start(handler, null, start);
      await first[Symbol.asyncDispose]();
      const second = await lab.open();
      expect(
        await second.recover([
          { ...handler, name: 'other' },
          { ...handler, version: 2 },
        ]),
      ).toEqual([]);
      expect(second.reader.run('r1')).toMatchObject({ state: 'running', generation: 1 });
      expect(await second.recover([handler])).toHaveLength(1);
    });

    test('JNL-13 an outcome over 256 KiB comes back whole, and what is no JSON is refused with what to do', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      const large = 'x'.repeat(262_143);
      const handler = loop((ctx) => ctx.step('log', {}, async () => large));
      const run = await (await engine.start(handler, null, start)).ended;
      expect(run.state).toBe('done');
      expect(run.output === large).toBe(true);
      const fits = loop((ctx) => ctx.step('log', {}, async () => 'x'.repeat(262_142)));
      expect(await (await engine.start(fits, null, { id: runId('r2'), dedupeKey: 'other' })).ended).toMatchObject({ state: 'done' });
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      await expect(engine.start(handler, cyclic, { id: runId('r3'), dedupeKey: 'c' })).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' });
    });

    test('JNL-14 a process runs once: a restarted engine adopts it, and its output is watched from the first byte', async () => {
      await using lab = makeLab();
      const ledger = `${lab.stateHome}-ledger`;
      const adopted: boolean[] = [];
      const outputs: string[] = [];
      const handler = loop(async (ctx) => {
        const line = `echo run >> '${ledger}'; echo hello; while [ ! -e '${ledger}.go' ]; do sleep 0.02; done; echo bye; exit 7`;
        return ctx.spawn('agent', shellSpec(line, '/'), {
          watch: (managed) => {
            adopted.push(managed.wasAdopted);
            const index = outputs.push('') - 1;
            managed.onStdout({ bytes: (chunk) => void (outputs[index] += new TextDecoder().decode(chunk)) });
          },
        });
      });
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('the process runs', () => existsSync(ledger));
      await first[Symbol.asyncDispose]();
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      await until('it is adopted', () => adopted.length === 2);
      writeFileSync(`${ledger}.go`, '');
      expect(await handle?.ended).toMatchObject({ state: 'done', output: { end: 'exited', exitCode: 7, wasAdopted: true } });
      expect(adopted).toEqual([false, true]);
      expect(outputs[1]).toBe('hello\nbye\n');
      expect(readFileSync(ledger, 'utf8')).toBe('run\n');
      for (const file of [ledger, `${ledger}.go`]) rmSync(file);
      expect([...second.reader.exportLines()].join('\n')).not.toContain('hunter2-secret');
      expect(second.reader.facts({ run: 'r1' })[1]?.data).toMatchObject({ env: ['PATH', 'SECRET_TOKEN'], jobDir: 'jobs/r1/agent.1' });
    });

    test('JNL-15 a cancelled process is ended, and a reopened run starts a new one in a new folder', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      let running = 0;
      const handler = loop((ctx, input) =>
        ctx.spawn('Agent 1', shellSpec(input === 'long' ? 'sleep 300' : 'exit 0', '/'), { watch: () => void (running += 1) }),
      );
      const handle = await engine.start(handler, 'long', start);
      await until('the process runs', () => running === 1);
      lab.requestCancel(lab.stateHome, start.id, 'stop it');
      expect(await handle.ended).toMatchObject({ state: 'cancelled' });
      const [firstDir = ''] = lab.processes.started;
      expect(await lab.processes.inspect(firstDir)).toBe('ended');
      expect(await (await engine.reopen(handler, start.id, 'short')).ended).toMatchObject({ state: 'done', output: { exitCode: 0 } });
      const folders = lab.processes.started.map((folder) => folder.slice(folder.lastIndexOf('/') + 1));
      expect(folders).toEqual([expect.stringMatching(/^agent-1~[0-9a-f]{8}\.1$/), expect.stringMatching(/^agent-1~[0-9a-f]{8}\.2$/)]);
    });

    test('JNL-16 a process left running by a dead engine is ended when its run was cancelled meanwhile', async () => {
      await using lab = makeLab();
      let running = 0;
      const handler = loop((ctx) => ctx.spawn('agent', shellSpec('sleep 300', '/'), { watch: () => void (running += 1) }));
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('the process runs', () => running === 1);
      await first[Symbol.asyncDispose]();
      const [jobDir = ''] = lab.processes.started;
      expect(await lab.processes.inspect(jobDir)).toBe('running');
      lab.requestCancel(lab.stateHome, start.id, 'stop it');
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'cancelled' });
      expect(await lab.processes.inspect(jobDir)).toBe('ended');
      expect(lab.processes.started).toHaveLength(1);
    });

    test('JNL-17 what the handler does not wait for is ended before the run ends', async () => {
      await using lab = makeLab();
      const engine = await lab.open();
      let hasEnded = false;
      let running = 0;
      const handler = loop(async (ctx) => {
        void ctx.step('stray', {}, async ({ signal }) => {
          await aborted(signal);
          await new Promise((resolve) => setTimeout(resolve, 100));
          hasEnded = true;
          throw new Error('stray');
        });
        void ctx.spawn('stray-process', shellSpec('sleep 300', '/'), { watch: () => void (running += 1) });
        await ctx.sleep('a-little', 20);
        await until('the stray process runs', () => running === 1);
        throw new Error('the real reason');
      });
      const run = await (await engine.start(handler, null, start)).ended;
      expect(run).toMatchObject({ state: 'failed', error: { message: 'the real reason' } });
      expect(hasEnded).toBe(true);
      expect(await lab.processes.inspect(lab.processes.started[0] ?? '')).toBe('ended');
    });

    test('JNL-18 a sleep that a dead engine began waits for the rest only', async () => {
      await using lab = makeLab();
      let now = 1_000_000;
      const options = { clock: () => epochMs(now) };
      const handler = loop(async (ctx) => {
        await ctx.sleep('until-morning', 3_600_000);
        return 'awake';
      });
      const first = await lab.open(options);
      await first.start(handler, null, start);
      await until('the sleep is recorded', () => kindsOf(first.reader.facts()).includes('step.intended'));
      await first[Symbol.asyncDispose]();
      now += 3_599_990;
      const second = await lab.open(options);
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'done', output: 'awake' });
    });

    test('JNL-28 a sleep is not prolonged by a clock that was set back', async () => {
      await using lab = makeLab();
      let now = 10_000_000;
      const options = { clock: () => epochMs(now) };
      const handler = loop((ctx) => ctx.sleep('nap', 200));
      const first = await lab.open(options);
      await first.start(handler, null, start);
      await until('the sleep is recorded', () => kindsOf(first.reader.facts()).includes('step.intended'));
      await first[Symbol.asyncDispose]();
      now -= 3_600_000;
      const second = await lab.open(options);
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'done' });
    });

    test('JNL-29 a process whose outcome is recorded is not started again; a watcher gets its output once more', async () => {
      await using lab = makeLab();
      const outputs: string[] = [];
      let isBlocked = true;
      const handler = loop(async (ctx) => {
        const outcome = await ctx.spawn('agent', shellSpec('echo hi', '/'), {
          watch: (managed) => {
            const index = outputs.push('') - 1;
            managed.onStdout({ bytes: (chunk) => void (outputs[index] += new TextDecoder().decode(chunk)) });
          },
        });
        if (isBlocked) await aborted(ctx.signal);
        ctx.signal.throwIfAborted();
        return outcome;
      });
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('the outcome is recorded', () => kindsOf(first.reader.facts()).includes('step.completed'));
      await first[Symbol.asyncDispose]();
      isBlocked = false;
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'done', output: { exitCode: 0, wasAdopted: false } });
      expect(outputs).toEqual(['hi\n', 'hi\n']);
      expect(lab.processes.started).toHaveLength(1);
    });

    test('JNL-30 a process that ended because its engine died is started again in a new folder', async () => {
      await using lab = makeLab();
      const flag = `${lab.stateHome}-flag`;
      let running = 0;
      const line = `[ -e '${flag}' ] || sleep 300`;
      const handler = loop((ctx) => ctx.spawn('check', shellSpec(line, '/'), { watch: () => void (running += 1) }));
      const first = await lab.open();
      await first.start(handler, null, start);
      await until('the process runs', () => running === 1);
      await first[Symbol.asyncDispose]();
      const [jobDir = ''] = lab.processes.started;
      writeFileSync(`${jobDir}/ended-by`, 'owner-died');
      process.kill(-Number(readFileSync(`${jobDir}/pid`, 'utf8')), 'SIGKILL');
      writeFileSync(flag, '');
      const second = await lab.open();
      const [handle] = await second.recover([handler]);
      expect(await handle?.ended).toMatchObject({ state: 'done', output: { end: 'exited', exitCode: 0, wasAdopted: false } });
      expect(lab.processes.started.map((folder) => folder.slice(-7))).toEqual(['check.1', 'check.2']);
    });
  });
};
