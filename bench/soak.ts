// A daemon with loops every few seconds, watched for an hour: memory, open files, worktrees, journal. Most ticks find nothing; a task that
// is really done comes up again and again, so that attempts, verdicts and landings are part of it.
// Usage: npm run bench:soak [-- --minutes 60] [-- --work-every 60] [-- --json]
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFacts, printTable } from './table.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'work-every': { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const workEveryMs = Number(values['work-every']) * 1_000;
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gyre-soak-'));
const repo = path.join(root, 'repo');
const env = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: path.join(root, 'state'), LANG: 'C.UTF-8' };
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=soak', '-c', 'user.email=soak@example.invalid', ...args], { cwd: repo, env, encoding: 'utf8' });
const gyre = (...args: string[]): string => execFileSync(process.execPath, [program, ...args], { cwd: repo, env, encoding: 'utf8' });

interface Sample {
  readonly minute: number;
  readonly rssMiB: number;
  readonly files: number;
  readonly threads: number;
  readonly worktrees: number;
  readonly folders: number;
  readonly journalMiB: number;
  readonly facts: number;
  readonly ticks: number;
  readonly landings: number;
}

const makeRepository = (): void => {
  fs.mkdirSync(path.join(repo, '.gyre', 'loops'), { recursive: true });
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', repo], { env });
  fs.writeFileSync(path.join(repo, 'check'), '#!/bin/sh\ntest "$(cat wanted)" = "$(cat done)"\n', { mode: 0o755 });
  fs.writeFileSync(path.join(repo, 'wanted'), '0\n');
  fs.writeFileSync(path.join(repo, 'done'), '0\n');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'soak');
  // The person stands on a branch of their own; the loops land on main.
  git('switch', '--quiet', '--create', 'mine');
  const loop = (every: string, front: string): string =>
    `---\non: { every: ${every} }\n${front}protect: []\nagent: { use: command, command: cp wanted done }\nland: { as: merge, target: main }\n---\n{{ task.title }}\n`;
  fs.writeFileSync(
    path.join(repo, '.gyre', 'loops', 'work.md'),
    loop('2s', 'discover: [{ tests: ./check, times: 1 }]\nverify: [{ run: ./check }]\n'),
  );
  fs.writeFileSync(
    path.join(repo, '.gyre', 'loops', 'idle.md'),
    loop('3s', 'discover: [{ command: "true" }]\nverify: [{ run: "true" }]\n'),
  );
};

/** Work comes up: main wants another number than it holds. */
const askForWork = (number: number): void => {
  const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: repo, env, input: `${number}\n`, encoding: 'utf8' }).trim();
  const index = { ...env, GIT_INDEX_FILE: path.join(root, 'index') };
  const run = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=soak', '-c', 'user.email=soak@example.invalid', ...args], {
      cwd: repo,
      env: index,
      encoding: 'utf8',
    }).trim();
  // A landing may move main meanwhile: the update names the value it replaces and is tried again.
  for (let tries = 0; tries < 20; tries += 1) {
    const before = run('rev-parse', 'refs/heads/main');
    run('read-tree', before);
    run('update-index', '--cacheinfo', `100644,${blob},wanted`);
    const commit = run('commit-tree', '-p', before, '-m', `Want ${number}`, run('write-tree'));
    try {
      run('update-ref', 'refs/heads/main', commit, before);
      return;
    } catch {
      continue;
    }
  }
  throw new Error('main moved twenty times in a row');
};

/** Read beside the daemon, as anybody may: the journal is plain SQLite. */
const journalCounts = (file: string): { readonly facts: number; readonly ticks: number } => {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const count = (sql: string): number => Number(db.prepare(sql).get()?.['n']);
    return { facts: count('SELECT count(*) AS n FROM facts'), ticks: count("SELECT count(*) AS n FROM runs WHERE loop = 'tick'") };
  } finally {
    db.close();
  }
};

const countIn = (dir: string): number => (fs.existsSync(dir) ? fs.readdirSync(dir).length : 0);

const sample = (pid: number, minute: number, stateHome: string): Sample => {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
  const bytes = ['journal.sqlite', 'journal.sqlite-wal'].reduce(
    (sum, name) => sum + (fs.statSync(path.join(stateHome, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const { facts, ticks } = journalCounts(path.join(stateHome, 'journal.sqlite'));
  return {
    minute,
    rssMiB: field('VmRSS') / 1_024,
    files: countIn(`/proc/${pid}/fd`),
    threads: field('Threads'),
    worktrees: git('worktree', 'list').trimEnd().split('\n').length - 1,
    folders: ['worktrees', 'clean', 'tmp', 'pool', 'jobs'].reduce((sum, name) => sum + countIn(path.join(stateHome, name)), 0),
    journalMiB: bytes / 2 ** 20,
    facts,
    ticks,
    landings: Number(git('rev-list', '--count', '--grep', 'Gyre-Run', 'main')),
  };
};

const cells = (one: Sample): readonly string[] => [
  String(one.minute),
  one.rssMiB.toFixed(0),
  String(one.files),
  String(one.threads),
  String(one.worktrees),
  String(one.folders),
  one.journalMiB.toFixed(1),
  String(one.facts),
  String(one.ticks),
  String(one.landings),
];
const head = ['minute', 'RSS MiB', 'files', 'threads', 'worktrees', 'folders', 'journal MiB', 'facts', 'ticks', 'landings'];

makeRepository();
const daemon = spawn(process.execPath, [program, 'up', '--foreground'], { cwd: repo, env, stdio: ['ignore', 'ignore', 'inherit'] });
const ended = new Promise<number | null>((resolve) => daemon.once('exit', resolve));
const samples: Sample[] = [];
let asked = 0;
try {
  const begun = performance.now();
  while (performance.now() - begun < minutes * 60_000 && daemon.exitCode === null) {
    await delay(5_000);
    const elapsedMs = performance.now() - begun;
    if (elapsedMs > asked * workEveryMs) askForWork((asked += 1));
    if (elapsedMs < (samples.length + 1) * 60_000) continue;
    const stateHome = path.join(
      root,
      'state',
      'gyre',
      fs.readdirSync(path.join(root, 'state', 'gyre')).find((name) => name.startsWith('repo-')) ?? '',
    );
    const one = sample(daemon.pid ?? 0, samples.length + 1, stateHome);
    samples.push(one);
    process.stderr.write(`${cells(one).join('\t')}\n`);
  }
} finally {
  daemon.kill('SIGTERM');
}
const exitCode = await ended;
const verified = gyre('journal', 'verify').trim();
const first = samples[Math.min(4, samples.length - 1)];
const last = samples.at(-1);
if (values.json)
  process.stdout.write(`${JSON.stringify({ machine: machineFacts(), minutes, asked, exitCode, verified, samples }, null, 2)}\n`);
else {
  process.stdout.write(
    `${machineFacts()}\n${minutes} minutes, work asked for ${asked} times, the daemon ended with ${exitCode}. ${verified}\n`,
  );
  printTable(head, samples.filter((_, at) => at % 5 === 4 || at === samples.length - 1).map(cells));
  if (first !== undefined && last !== undefined && last.ticks > first.ticks)
    process.stdout.write(
      `Journal: ${(((last.journalMiB - first.journalMiB) * 2 ** 20) / (last.ticks - first.ticks)).toFixed(0)} bytes and ${((last.facts - first.facts) / (last.ticks - first.ticks)).toFixed(1)} facts a tick, landings included.\n`,
    );
}
fs.rmSync(root, { recursive: true, force: true });
process.exitCode = exitCode === 0 && (last?.worktrees ?? 1) === 0 ? 0 : 1;
