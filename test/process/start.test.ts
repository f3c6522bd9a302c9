import { createHash } from 'node:crypto';
import { chmod, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { argvOf, waitUntil } from '../testkit/processes.ts';
import { collect, expectNoProblem, shell, useJobs } from './jobs.ts';

const jobs = useJobs();

describe('a program is started', () => {
  test('PROC-01 exit code, both streams and times are in the result', async () => {
    const job = await jobs.open('silent', shell('echo out; echo err >&2; exit 7'));
    const result = await job.result;
    expect(result).toMatchObject({ end: 'exited', exitCode: 7, signal: null, problem: '', orphansKilled: 0, suspendedMs: 0 });
    expect(await readFile(result.stdout.path, 'utf8')).toBe('out\n');
    expect(await readFile(result.stderr.path, 'utf8')).toBe('err\n');
    expect(result.stdout).toMatchObject({ bytesSeen: 4, bytesKept: 4, cut: false });
    expect(result.endedAt).toBeGreaterThanOrEqual(result.startedAt);
    expect(job.wasAdopted).toBe(false);
    expect(await jobs.host.inspect(job.jobDir)).toBe('ended');
  });

  test('PROC-01 after the result the folder holds no piece of the work in between', async () => {
    const job = await jobs.open('silent', shell('echo out'));
    await job.result;
    const names = ['claim.json', 'program.json', 'result.json', 'shim.log', 'spec.json', 'stderr.log', 'stdout.log'];
    expect((await readdir(job.jobDir)).sort()).toEqual(names);
    expect(await readFile(path.join(job.jobDir, 'shim.log'), 'utf8')).toBe('');
  });

  test('PROC-01 a program that a signal ended has the signal and no exit code', async () => {
    expect(await (await jobs.open('silent', shell('kill -9 $$'))).result).toMatchObject({
      end: 'exited',
      exitCode: null,
      signal: 'SIGKILL',
    });
  });

  test('PROC-02 the environment is exactly the given one and the mark, whatever its values would do to the shim', async () => {
    const env = { PATH: '/usr/bin:/bin', NODE_OPTIONS: '--no-such-option', ODD: 'a=b\nc é', EMPTY: '' };
    const job = await jobs.open('silent', { command: '/usr/bin/env', args: ['-0'], env });
    const out = collect(job);
    expectNoProblem(await job.result);
    const entries = Object.fromEntries(
      out
        .text()
        .split('\0')
        .filter(Boolean)
        .map((entry) => entry.split(/=(.*)/s).slice(0, 2)),
    );
    expect(entries).toEqual({ ...env, GYRE_TEST_LEDGER: jobs.ledgerFile, GYRE_MARK: jobs.marker });
  });

  test('PROC-02 values of the environment are nowhere on disk and in no argument, names are', async () => {
    const secret = 'tr0ub4dor-and-3';
    const job = await jobs.open('silent', { env: { API_TOKEN: secret } });
    await waitUntil(() => jobs.calls().length === 1, { withinMs: 30_000 });
    for (const name of await readdir(job.jobDir)) expect(await readFile(path.join(job.jobDir, name), 'utf8')).not.toContain(secret);
    job.end('cancelled');
    await job.result;
    for (const name of await readdir(job.jobDir)) expect(await readFile(path.join(job.jobDir, name), 'utf8')).not.toContain(secret);
    expect(await readFile(path.join(job.jobDir, 'spec.json'), 'utf8')).toContain('API_TOKEN');
    expect(jobs.calls()[0]?.envNames).toContain('API_TOKEN');
  });

  test('PROC-03 a script may open its output by name, as in a terminal', async () => {
    const job = await jobs.open('silent', shell('echo one > /dev/stderr && echo two > /dev/stdout'));
    const result = await job.result;
    expect(result.exitCode).toBe(0);
    expect(await readFile(result.stderr.path, 'utf8')).toBe('one\n');
    expect(await readFile(result.stdout.path, 'utf8')).toBe('two\n');
  });

  test('PRC-03 standard input ends at once where there is none', async () => {
    const job = await jobs.open('reads-stdin-first');
    expect((await job.result).end).toBe('exited');
    expect(jobs.calls()[0]?.promptBytes).toBe(0);
  });

  test('PRC-09 a prompt of 300 KB arrives whole, and no argument is larger than 8 KB', async () => {
    const prompt = `${'A long item. é '.repeat(20_000)}\nMARKER-IN-THE-LAST-LINE\n`;
    const promptFile = path.join(jobs.root, 'prompt.md');
    await writeFile(promptFile, prompt);
    const job = await jobs.open('final-then-hang', { stdin: { kind: 'file', path: promptFile } });
    const call = await waitUntil(() => jobs.calls().find((one) => one.promptMs !== undefined), { withinMs: 30_000 });
    for (const argument of argvOf(call.pid)) expect(Buffer.byteLength(argument)).toBeLessThan(8_192);
    job.end('after-result');
    expect((await job.result).end).toBe('after-result');
    expect(call.promptBytes).toBe(Buffer.byteLength(prompt));
    expect(call.promptSha256).toBe(createHash('sha256').update(prompt).digest('hex'));
    // PRC-03: the end of the input came with it.
    expect((call.promptMs ?? Infinity) - call.startMs).toBeLessThan(2_000);
  });
});

/** The sentence with which a start is refused. */
const problemOf = async (changes: Parameters<typeof jobs.open>[1]): Promise<string> => {
  const result = await (await jobs.open('silent', changes)).result;
  expect(result).toMatchObject({ end: 'not-started', exitCode: null, signal: null });
  expect(jobs.calls()).toEqual([]);
  return result.problem;
};

describe('a program that cannot be started', () => {
  test('WTR-07 a missing folder is told apart from a missing program', async () => {
    const cwd = path.join(jobs.root, 'gone');
    expect(await problemOf({ cwd })).toBe(`The folder to work in is missing: ${cwd}`);
  });

  test('WTR-07 a file in place of the folder is named', async () => {
    const cwd = path.join(jobs.root, 'file');
    await writeFile(cwd, '');
    expect(await problemOf({ cwd })).toBe(`The folder to work in is not a folder: ${cwd}`);
  });

  test('PROC-04 a program that is not on PATH', async () => {
    expect(await problemOf({ command: 'no-such-program' })).toBe('The program no-such-program was not found on PATH (/usr/bin:/bin)');
  });

  test('PROC-04 a program at a path that does not exist', async () => {
    expect(await problemOf({ command: './no-such' })).toBe('The program was not found: ./no-such');
  });

  test('PROC-04 a script whose interpreter is missing', async () => {
    const script = path.join(jobs.root, 'script');
    await writeFile(script, '#!/no/such/interpreter\n');
    await chmod(script, 0o755);
    expect(await problemOf({ command: script })).toContain('the interpreter that its first line names was not found');
  });

  test('PROC-04 a file that is not executable', async () => {
    const script = path.join(jobs.root, 'script');
    await writeFile(script, '#!/bin/sh\n');
    expect(await problemOf({ command: script })).toContain('may not be executed (EACCES');
  });

  test('PROC-04 an argument that is too large', async () => {
    expect(await problemOf({ args: ['x'.repeat(200_000)] })).toMatch(/^Arguments and environment \(\d+ bytes\) are too large/);
  });

  test('PROC-04 a missing file for standard input', async () => {
    const file = path.join(jobs.root, 'none.md');
    expect(await problemOf({ stdin: { kind: 'file', path: file } })).toBe(`The file for standard input cannot be read (ENOENT): ${file}`);
  });
});
