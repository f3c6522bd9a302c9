import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shellSpec } from '../test-process-host.ts';
import { type MakeLab, aborted, endOf, kindsOf, loop, start, until } from './lab.ts';

export const processesConformance = (makeLab: MakeLab): void => {
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
    await until(lab, 'the process runs', () => existsSync(ledger));
    await first[Symbol.asyncDispose]();
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    await until(lab, 'it is adopted', () => adopted.length === 2);
    writeFileSync(`${ledger}.go`, '');
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: { end: 'exited', exitCode: 7, wasAdopted: true } });
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
    await until(lab, 'the process runs', () => running === 1);
    lab.requests.cancel(start.id, 'stop it');
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled' });
    const [firstDir = ''] = lab.processes.started;
    expect(await lab.processes.inspect(firstDir)).toBe('ended');
    expect(await endOf(lab, await engine.reopen(handler, start.id, 'short'))).toMatchObject({ state: 'done', output: { exitCode: 0 } });
    const folders = lab.processes.started.map((folder) => folder.slice(folder.lastIndexOf('/') + 1));
    expect(folders).toEqual([expect.stringMatching(/^agent-1~[0-9a-f]{8}\.1$/), expect.stringMatching(/^agent-1~[0-9a-f]{8}\.2$/)]);
  });

  test('JNL-16 a process left running by a dead engine is ended when its run was cancelled meanwhile', async () => {
    await using lab = makeLab();
    let running = 0;
    const handler = loop((ctx) => ctx.spawn('agent', shellSpec('sleep 300', '/'), { watch: () => void (running += 1) }));
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'the process runs', () => running === 1);
    await first[Symbol.asyncDispose]();
    const [jobDir = ''] = lab.processes.started;
    expect(await lab.processes.inspect(jobDir)).toBe('running');
    lab.requests.cancel(start.id, 'stop it');
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled' });
    expect(await lab.processes.inspect(jobDir)).toBe('ended');
    expect(lab.processes.started).toHaveLength(1);
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
    await until(lab, 'the outcome is recorded', () => kindsOf(first.reader.facts()).includes('step.completed'));
    await first[Symbol.asyncDispose]();
    isBlocked = false;
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: { exitCode: 0, wasAdopted: false } });
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
    await until(lab, 'the process runs', () => running === 1);
    await first[Symbol.asyncDispose]();
    const [jobDir = ''] = lab.processes.started;
    writeFileSync(`${jobDir}/ended-by`, 'owner-died');
    process.kill(-Number(readFileSync(`${jobDir}/pid`, 'utf8')), 'SIGKILL');
    writeFileSync(flag, '');
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: { end: 'exited', exitCode: 0, wasAdopted: false } });
    expect(lab.processes.started.map((folder) => folder.slice(-7))).toEqual(['check.1', 'check.2']);
  });
};
