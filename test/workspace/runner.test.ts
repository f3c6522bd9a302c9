import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startRunner, type Runner } from '../../src/workspace/runner.ts';

const source = (name: string): string => fileURLToPath(new URL(`../../src/workspace/${name}`, import.meta.url));
const argv = [process.execPath, '--disable-warning=ExperimentalWarning', source('runner-main.ts')];

let dir: string;
let runner: Runner;

beforeEach(() => {
  dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'gyre-runner-')));
  runner = startRunner(argv);
});
afterEach(() => {
  runner.close();
  rmSync(dir, { recursive: true, force: true });
});

const call = (script: string, more: { readonly input?: string; readonly limitMs?: number; readonly outputBytes?: number } = {}) => ({
  command: '/bin/sh',
  args: ['-c', script],
  cwd: dir,
  env: { PATH: process.env['PATH'] ?? '', WORD: 'given' },
  input: more.input,
  limitMs: more.limitMs ?? 30_000,
  outputBytes: more.outputBytes ?? 1e6,
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

const until = async (what: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 600 && !what(); tries += 1) await wait(25);
  expect(what()).toBe(true);
};

/** Writes its pid and that of its parent, which is the runner, and stays. */
const staying = `echo $$ $PPID > "$PWD/pids"; while :; do sleep 0.1; done`;
const pids = async (): Promise<{ readonly program: number; readonly runner: number }> => {
  const file = path.join(dir, 'pids');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  const [program = 0, parent = 0] = readFileSync(file, 'utf8').split(' ').map(Number);
  return { program, runner: parent };
};

test('RNR-01 the runner gives what the program gave: bytes, both streams, its exit code, its input and its environment', async () => {
  const end = await runner.run(call(String.raw`cat; printf '\377\000'; echo "$WORD $PWD" >&2; exit 3`, { input: 'in\n' }));
  expect(end).toMatchObject({ end: 'exited', code: 3, stderr: `given ${dir}\n` });
  expect([...end.stdout]).toEqual([...Buffer.from('in\n'), 255, 0]);
  const many = await Promise.all(Array.from({ length: 20 }, (_, index) => runner.run(call(`echo ${index}`))));
  expect(many.map(({ stdout }) => stdout.toString())).toEqual(Array.from({ length: 20 }, (_, index) => `${index}\n`));
});

test('RNR-02 limits hold through the runner: time, output, a program that is not there', async () => {
  expect(await runner.run(call('sleep 60', { limitMs: 200 }))).toMatchObject({ end: 'timed-out', code: -1 });
  expect(await runner.run(call('yes', { outputBytes: 1_000 }))).toMatchObject({ end: 'too-much-output' });
  expect(await runner.run({ ...call(''), command: '/nowhere/git' })).toMatchObject({ end: 'not-started' });
});

test('RNR-03 a runner that is killed: what it ran is killed and told as lost, and the next call has another runner', async () => {
  const first = runner.run(call(staying));
  const { program, runner: pid } = await pids();
  process.kill(pid, 'SIGKILL');
  expect(await first).toMatchObject({ end: 'lost', code: -1 });
  await until(() => !isAlive(program));
  expect(await runner.run(call('echo $PPID'))).toMatchObject({ end: 'exited', code: 0 });
});

test('RNR-04 a runner that cannot be started costs nothing: its calls are run here', async () => {
  const none = startRunner(['/nowhere/node']);
  for (let times = 0; times < 5; times += 1) expect((await none.run(call('echo here'))).stdout.toString()).toBe('here\n');
  none.close();
});

test('L13 an engine that is killed leaves neither the runner nor what it ran', async () => {
  const script = path.join(dir, 'engine.ts');
  const shown = JSON.stringify({ argv, call: call(staying) });
  writeFileSync(
    script,
    `import { startRunner } from ${JSON.stringify(source('runner.ts'))};\nconst { argv, call } = ${shown};\nawait startRunner(argv).run(call);\n`,
  );
  const engine = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], { stdio: 'ignore' });
  const { program, runner: pid } = await pids();
  engine.kill('SIGKILL');
  await until(() => !isAlive(program) && !isAlive(pid));
});
