import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { createProcessHost, sourceShim } from '../../src/process/index.ts';
import type { ProcessSpec } from '../../src/process/index.ts';
import { isRunning, waitUntil } from '../testkit/processes.ts';
import { collect, shell, shimPid, useJobs } from './jobs.ts';

const jobs = useJobs();
const engineScript = fileURLToPath(new URL('engine-script.ts', import.meta.url));

/** Another engine in a process of its own. */
const startEngine = async (
  jobDir: string,
  spec: ProcessSpec,
): Promise<{ readonly engine: ChildProcess; readonly output: () => string }> => {
  const file = path.join(jobs.root, 'spec-for-engine.json');
  await writeFile(file, JSON.stringify(spec));
  const engine = spawn(process.execPath, [engineScript, jobDir, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  engine.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { engine, output: () => text };
};

/** A host whose shims wait to be let come. `letCome` settles when the shim is over. */
const slowShim = (name: string) => {
  const gate = path.join(jobs.root, name);
  const wait = 'while [ ! -e "$0" ]; do sleep 0.02; done; "$@"; : > "$0.over"';
  const host = createProcessHost({ shim: ['/bin/sh', '-c', wait, gate, ...sourceShim] });
  const letCome = async (): Promise<void> => {
    await writeFile(gate, '');
    await waitUntil(() => existsSync(`${gate}.over`), { withinMs: 30_000, what: `end of the shim ${name}` });
  };
  return { host, letCome };
};

/** Starts an engine, waits until its agent runs, and kills the engine alone. */
const killedEngine = async (jobDir: string, spec: ProcessSpec): Promise<number> => {
  const { engine } = await startEngine(jobDir, spec);
  const call = await waitUntil(() => jobs.calls()[0], { withinMs: 30_000, what: 'the agent of the engine to be killed' });
  engine.kill('SIGKILL');
  await once(engine, 'exit');
  return call.pid;
};

describe('the engine dies', () => {
  test('PRC-07 the agent goes on, the next engine adopts it and hears it from its first byte; one execution', async () => {
    const jobDir = jobs.dir();
    const spec = jobs.spec('chatty', { env: { CHATTY_MS: '4000' }, whenOwnerDies: 'outlive' });
    const pid = await killedEngine(jobDir, spec);
    expect(isRunning(pid)).toBe(true);
    expect(await jobs.host.inspect(jobDir)).toBe('running');
    const job = await jobs.host.open(jobDir, spec);
    const out = collect(job);
    expect(job.wasAdopted).toBe(true);
    expect(await job.result).toMatchObject({ end: 'exited', exitCode: 0 });
    expect(out.text()).toMatch(/^\{"type":"assistant","text":"line 1"\}\n/);
    expect(out.text()).toContain('"type":"result"');
    expect(jobs.calls().map((call) => call.pid)).toEqual([pid]);
  });

  test('PRC-07 an agent that finished meanwhile is read, not run again', async () => {
    const jobDir = jobs.dir();
    const spec = jobs.spec('chatty', { whenOwnerDies: 'outlive' });
    const pid = await killedEngine(jobDir, spec);
    await waitUntil(() => !isRunning(shimPid(jobDir)), { withinMs: 30_000 });
    expect(await jobs.host.inspect(jobDir)).toBe('ended');
    const job = await jobs.host.open(jobDir, spec);
    const out = collect(job);
    expect(await job.result).toMatchObject({ end: 'exited', exitCode: 0 });
    expect(out.text()).toBe(await readFile(path.join(jobDir, 'stdout.log'), 'utf8'));
    expect(jobs.calls().map((call) => call.pid)).toEqual([pid]);
  });

  test('PRC-07 an adopted process can be ended', async () => {
    const jobDir = jobs.dir();
    const spec = jobs.spec('silent', { whenOwnerDies: 'outlive' });
    const pid = await killedEngine(jobDir, spec);
    const job = await jobs.host.open(jobDir, spec);
    job.end('cancelled');
    expect((await job.result).end).toBe('cancelled');
    expect(isRunning(pid)).toBe(false);
  });

  test('PRC-07 the limits of an agent without an engine still hold', async () => {
    const jobDir = jobs.dir();
    const spec = jobs.spec('silent', { whenOwnerDies: 'outlive', limits: { deadlineMs: 2_000 } });
    const pid = await killedEngine(jobDir, spec);
    await waitUntil(() => !isRunning(pid), { withinMs: 30_000 });
    expect((await (await jobs.host.open(jobDir, spec)).result).end).toBe('deadline');
  });

  test('L13 a check ends with the engine that started it', async () => {
    const jobDir = jobs.dir();
    const spec = jobs.spec('silent', { whenOwnerDies: 'end' });
    const pid = await killedEngine(jobDir, spec);
    await waitUntil(() => !isRunning(pid), { withinMs: 30_000 });
    expect((await (await jobs.host.open(jobDir, spec)).result).end).toBe('owner-died');
  });
});

describe('one job folder, one program', () => {
  test('L5 engines that open one folder at once share one program', async () => {
    const jobDir = jobs.dir();
    const spec = jobs.spec('chatty');
    const other = await startEngine(jobDir, spec);
    const hosts = [jobs.host, createProcessHost({ shim: sourceShim }), createProcessHost({ shim: sourceShim })];
    const opened = await Promise.all(hosts.map((host) => host.open(jobDir, spec)));
    const results = await Promise.all(opened.map((job) => job.result));
    await once(other.engine, 'exit');
    expect(results.map((result) => result.end)).toEqual(['exited', 'exited', 'exited']);
    expect(other.output()).toMatch(/^(?:started|adopted)\nexited\n$/);
    expect(opened.filter((job) => !job.wasAdopted).length + (other.output().startsWith('started') ? 1 : 0)).toBe(1);
    expect(jobs.calls().length).toBe(1);
  });

  test('L5 two shims of one start run one program', async () => {
    const twice = createProcessHost({
      shim: ['/bin/sh', '-c', '"$@" & "$@" & wait; : > "$0"', path.join(jobs.root, 'over'), ...sourceShim],
    });
    const job = await twice.open(jobs.dir(), jobs.spec('chatty'));
    expect((await job.result).end).toBe('exited');
    await waitUntil(() => existsSync(path.join(jobs.root, 'over')), { withinMs: 30_000 });
    expect(jobs.calls().length).toBe(1);
  });

  test('L5 a start that was revoked never happens, also by a shim that comes late', async () => {
    const jobDir = jobs.dir();
    const late = slowShim('late');
    const opening = late.host.open(jobDir, jobs.spec('chatty'));
    await waitUntil(() => existsSync(path.join(jobDir, 'spec.json')), { withinMs: 30_000 });
    expect(await jobs.host.inspect(jobDir)).toBe('absent');
    expect(await jobs.host.revoke(jobDir)).toBe('revoked');
    await late.letCome();
    expect((await (await opening).result).end).toBe('not-started');
    const again = await (await jobs.host.open(jobDir, jobs.spec('chatty'))).result;
    expect(again).toMatchObject({ end: 'not-started', problem: 'The start was revoked before it happened.' });
    expect(await jobs.host.inspect(jobDir)).toBe('ended');
    expect(jobs.calls()).toEqual([]);
  });

  test('L5 the slow shim of an earlier start leaves the job to the shim of a later one', async () => {
    const jobDir = jobs.dir();
    const early = slowShim('early');
    const late = slowShim('late');
    const first = early.host.open(jobDir, jobs.spec('chatty', { env: { WHICH: 'early' } }));
    await waitUntil(() => existsSync(path.join(jobDir, 'spec.json')), { withinMs: 30_000 });
    const second = late.host.open(jobDir, jobs.spec('chatty', { env: { LATER: '1' } }));
    await early.letCome();
    expect(await jobs.host.inspect(jobDir)).toBe('absent');
    await late.letCome();
    expect((await first).wasAdopted).toBe(true);
    expect((await second).wasAdopted).toBe(false);
    await Promise.all([first.then((job) => job.result), second.then((job) => job.result)]);
    expect(jobs.calls().map((call) => call.envNames.includes('LATER'))).toEqual([true]);
  });

  test('L5 a revocation after the claim changes nothing', async () => {
    const job = await jobs.open('chatty');
    expect(await jobs.host.revoke(job.jobDir)).toBe('claimed');
    expect((await job.result).end).toBe('exited');
  });

  test('L15 a shim that cannot run is told, with what it said', async () => {
    const host = createProcessHost({ shim: ['/bin/sh', '-c', 'echo no such module >&2; exit 9'] });
    const result = await (await host.open(jobs.dir(), jobs.spec('liar'))).result;
    expect(result).toMatchObject({ end: 'not-started' });
    expect(result.problem).toContain('exit code 9. no such module');
    const missing = createProcessHost({ shim: ['/no/such/node'] });
    expect((await (await missing.open(jobs.dir('other'), jobs.spec('liar'))).result).problem).toContain('ENOENT');
  });
});

describe('Gyre under Gyre', () => {
  test('L13 a sweep of the outer marker ends the trees of an inner engine too, also when that engine is dead', async () => {
    const specFile = path.join(jobs.root, 'inner.json');
    const inner = { ...jobs.spec('silent', { whenOwnerDies: 'outlive' }), marker: `${jobs.marker}-inner` };
    await writeFile(specFile, JSON.stringify(inner));
    const innerDir = jobs.dir('inner');
    const run = `"${process.execPath}" "${engineScript}" "${innerDir}" "${specFile}" & echo $!; wait; sleep 600`;
    const outer = await jobs.open('silent', { command: '/bin/sh', args: ['-c', run] });
    const out = collect(outer);
    const agent = await waitUntil(() => jobs.calls()[0], { withinMs: 30_000 });
    process.kill(Number(out.text().split('\n')[0]), 'SIGKILL');
    expect(await jobs.host.sweep(jobs.marker)).toBeGreaterThanOrEqual(3);
    await outer.result;
    expect(isRunning(agent.pid)).toBe(false);
    expect(isRunning(shimPid(innerDir))).toBe(false);
    expect(await jobs.host.inspect(innerDir)).toBe('lost');
  });
});

describe('the shim dies', () => {
  test('L13 a killed shim gives lost, its tree is ended, and what it said is kept', async () => {
    const job = await jobs.open('ignores-signals');
    const out = collect(job);
    await waitUntil(() => out.text().endsWith('}\n'), { withinMs: 30_000 });
    process.kill(shimPid(job.jobDir), 'SIGKILL');
    const result = await job.result;
    expect(result).toMatchObject({ end: 'lost', exitCode: null });
    expect(await readFile(result.stdout.path, 'utf8')).toBe(out.text());
    expect(await jobs.host.inspect(job.jobDir)).toBe('lost');
    const again = await jobs.host.open(job.jobDir, jobs.spec('ignores-signals'));
    expect((await again.result).end).toBe('lost');
    expect(jobs.calls().length).toBe(1);
  });

  test('PROC-07 a shim that is asked to end by the system ends its tree in order', async () => {
    const job = await jobs.open('silent', shell('trap "echo bye; exit 0" TERM; echo hi; while :; do sleep 0.05; done'));
    const out = collect(job);
    await waitUntil(() => out.text() === 'hi\n', { withinMs: 30_000 });
    process.kill(shimPid(job.jobDir), 'SIGTERM');
    expect(await job.result).toMatchObject({ end: 'cancelled', exitCode: 0 });
    expect(out.text()).toBe('hi\nbye\n');
  });
});
