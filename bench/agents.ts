// Many scripted agent processes at once through the daemon: all of them alive at one moment, every line they print kept, every run ended;
// beside it the daemon's memory, its longest stall, and how long `gyre status` takes meanwhile. Linux: it reads /proc.
// An agent is a small shell, its shim a Node process of about 12 MiB: 1,000 need about 14 GiB of memory.
// Usage: npm run bench:agents [-- --agents n] [-- --json]
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { statusOf } from '../src/cli/commands/status.ts';
import { type JournalReader, openReader } from '../src/journal/index.ts';
import { attemptsOf, isTaskRun, outputOf } from '../src/loop/read.ts';
import { stateHomeOf } from '../src/workspace/index.ts';
import { machineFacts, median, printTable } from './table.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, agents: { type: 'string', default: '1000' }, profile: { type: 'string' } },
});
const agents = Number(values.agents);
const linesBefore = 100;
const linesAfter = 100;
/** Agents end in their own time: once all are alive at one moment, they go on one after another over this long. */
const endsOverS = 300;
/** Longest time for the whole. */
const boundMs = 300_000 + agents * 4_000;

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'gyre-agents-')));
const repo = path.join(root, 'repo');
const env = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: path.join(root, 'state'), LANG: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1' };
const stateHome = stateHomeOf({ commonDir: path.join(repo, '.git'), stateRoot: path.join(root, 'state', 'gyre') });
const note = (text: string): void => void process.stderr.write(`${text}\n`);

// Opening a FIFO for reading waits, without polling, until somebody opens it for writing.
const agent = `key="\${GYRE_TASK#item:}"; home="$(dirname "$0")"
say() { while [ $1 -le $2 ]; do echo "$key $1 ................................................................"; set -- $(($1 + 1)) $2; done; }
say 1 ${linesBefore}
echo "$key" >> "$home/arrived"
: < "$home/gate"
sleep $((\${key#t} % ${endsOverS}))
say ${linesBefore + 1} ${linesBefore + linesAfter}
mkdir -p out; echo done > "out/$key"
`;

const makeRepository = (): void => {
  fs.mkdirSync(path.join(repo, '.gyre', 'loops'), { recursive: true });
  fs.writeFileSync(path.join(root, '.gitconfig'), '[user]\n\tname = bench\n\temail = bench@example.invalid\n');
  fs.writeFileSync(path.join(root, 'agent.sh'), agent);
  fs.writeFileSync(path.join(root, 'arrived'), '');
  execFileSync('mkfifo', [path.join(root, 'gate')]);
  const tasks = Array.from({ length: agents }, (_, index) => JSON.stringify({ key: `t${index + 1}`, title: `Make t${index + 1}` }));
  fs.writeFileSync(path.join(root, 'tasks.jsonl'), `${tasks.join('\n')}\n`);
  fs.writeFileSync(path.join(repo, 'README.md'), 'bench\n');
  fs.writeFileSync(path.join(repo, 'gyre.yaml'), `limits:\n  runs: ${agents}\n`);
  const front = {
    discover: [{ command: `cat '${root}/tasks.jsonl'` }],
    agent: { use: 'command', command: `sh '${root}/agent.sh'` },
    verify: [{ run: 'true' }],
    land: { as: 'branch' },
    stop: { time: '6h', session: '6h', idle: '6h' },
    parallel: agents,
  };
  fs.writeFileSync(path.join(repo, '.gyre', 'loops', 'many.md'), `---\n${JSON.stringify(front)}\n---\n{{ task.title }}\n`);
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: repo, env });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'bench');
};

const timed = (run: () => void): number => {
  const begun = performance.now();
  run();
  return performance.now() - begun;
};

const gyre = (...args: string[]): string =>
  execFileSync(process.execPath, [program, ...args], { cwd: repo, env, encoding: 'utf8', maxBuffer: 2 ** 30 });

const read = <T>(use: (reader: JournalReader | undefined) => T): T => {
  const reader = openReader(stateHome);
  try {
    return use(reader);
  } finally {
    reader?.[Symbol.dispose]();
  }
};

/** One look at `gyre status`: the whole command, the same work inside a process that is up, and a bare start of Node beside it. */
const sample = async (): Promise<{ readonly commandMs: number; readonly insideMs: number; readonly bareNodeMs: number }> => {
  const wall = async (args: readonly string[]): Promise<number> => {
    const begun = performance.now();
    const child = spawn(process.execPath, args, { cwd: repo, env, stdio: 'ignore' });
    await new Promise((resolve) => child.once('exit', resolve));
    return performance.now() - begun;
  };
  const bareNodeMs = await wall(['-e', '0']);
  const commandMs = await wall([program, 'status']);
  const insideMs = timed(() => void read((reader) => statusOf(reader, { all: false })));
  return { commandMs, insideMs, bareNodeMs };
};

const endedRuns = (): number => {
  const counts = read((reader) => reader?.health().runs);
  return counts === undefined ? 0 : counts.done + counts.failed + counts.cancelled;
};

const arrived = (): number => fs.readFileSync(path.join(root, 'arrived'), 'utf8').split('\n').length - 1;

/** Lines that are not where they have to be, over all agents. */
const lostLines = (): { readonly runs: number; readonly goalMet: number; readonly printed: number; readonly lost: number } => {
  const rows = read((reader) => reader?.runs() ?? []).filter(isTaskRun);
  let lost = 0;
  for (const row of rows) {
    const key = row.dedupeKey.slice(row.dedupeKey.lastIndexOf(':') + 1);
    const attempts = attemptsOf(row);
    const log = attempts.at(-1)?.agent?.stdout.path;
    const kept = log === undefined ? [] : fs.readFileSync(log, 'utf8').split('\n');
    for (let number = 1; number <= linesBefore + linesAfter; number += 1)
      if (kept[number - 1]?.startsWith(`${key} ${number} .`) !== true) lost += 1;
    if (attempts.length !== 1 || kept.length !== linesBefore + linesAfter + 1) lost += 1;
  }
  const goalMet = rows.filter((row) => row.endedAt !== undefined && outputOf(row).exit.exit === 'goal-met').length;
  return { runs: rows.length, goalMet, printed: agents * (linesBefore + linesAfter), lost };
};

const daemonArgs = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];

const measure = async () => {
  const begun = performance.now();
  const at = (): number => (performance.now() - begun) / 1_000;
  const daemon = spawn(process.execPath, [...daemonArgs, program, 'up', '--foreground'], {
    cwd: repo,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const daemonEnded = new Promise<void>((resolve) => daemon.once('exit', () => resolve()));
  try {
    await new Promise((resolve) => daemon.stdout.once('data', resolve));
    const run = spawn(process.execPath, [program, 'run', 'many', '--json'], { cwd: repo, env, stdio: 'ignore' });
    const runEnded = new Promise<number | null>((resolve) => run.once('exit', resolve));
    const samples: Awaited<ReturnType<typeof sample>>[] = [];
    const until = Date.now() + boundMs;
    let aliveS: number | undefined;
    let gate: number | undefined;
    while (run.exitCode === null && run.signalCode === null) {
      if (Date.now() > until)
        throw new Error(`not within ${boundMs / 1_000} s: ${arrived()} agents were there, ${endedRuns()} runs have ended`);
      samples.push(await sample());
      const here = arrived();
      const last = samples.at(-1);
      note(
        `${at().toFixed(0)} s  ${here} agents there, ${endedRuns()} runs ended; status ${last?.commandMs.toFixed(0)} ms, inside ${last?.insideMs.toFixed(0)} ms, bare node ${last?.bareNodeMs.toFixed(0)} ms`,
      );
      if (here === agents && gate === undefined) {
        // Nobody has ended while the gate is shut: all are alive now.
        aliveS = at();
        gate = fs.openSync(path.join(root, 'gate'), fs.constants.O_RDWR);
      }
      await delay(3_000);
    }
    const wallS = at();
    if (gate !== undefined) fs.closeSync(gate);
    const rss = /VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1];
    // The daemon says what it has seen of its own stalls every ten seconds.
    await delay(11_000);
    const { daemon: state } = JSON.parse(gyre('status', '--json')) as { readonly daemon: { readonly longestStallMs?: number } };
    return { samples, aliveS, wallS, exitCode: await runEnded, peakMiB: Number(rss) / 1_024, longestStallMs: state.longestStallMs };
  } finally {
    daemon.kill('SIGTERM');
    await daemonEnded;
  }
};

const share = (numbers: readonly number[], part: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? Number.NaN;

try {
  makeRepository();
  const measured = await measure();
  const { samples } = measured;
  const lines = lostLines();
  const verified = spawnSync(process.execPath, [program, 'journal', 'verify'], { cwd: repo, env, encoding: 'utf8' }).stdout.trim();
  const of = (name: 'commandMs' | 'insideMs' | 'bareNodeMs') => {
    const all = samples.map((one) => one[name]);
    return { median: median(all), p95: share(all, 0.95), longest: Math.max(...all) };
  };
  const figures = {
    machine: machineFacts(),
    agents,
    ...lines,
    allAliveAfterS: measured.aliveS,
    wallS: measured.wallS,
    peakEngineMiB: measured.peakMiB,
    longestStallMs: measured.longestStallMs,
    statusSamples: samples.length,
    statusMs: of('commandMs'),
    statusInsideMs: of('insideMs'),
    bareNodeMs: of('bareNodeMs'),
    journal: verified,
  };
  if (values.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else {
    const times = (one: ReturnType<typeof of>): string[] => [
      `${one.median.toFixed(0)} ms`,
      `p95 ${one.p95.toFixed(0)} ms, longest ${one.longest.toFixed(0)} ms`,
    ];
    process.stdout.write(`${figures.machine}\n\n`);
    printTable(
      ['figure', 'value', 'beside'],
      [
        ['agents alive at one moment', String(agents), `after ${measured.aliveS?.toFixed(0) ?? '?'} s`],
        ['runs ended, goal met', `${lines.goalMet} of ${lines.runs}`, `after ${measured.wallS.toFixed(0)} s`],
        ['lines printed', String(lines.printed), `${lines.lost} lost`],
        [
          'peak memory of the engine',
          `${measured.peakMiB.toFixed(0)} MiB`,
          `${((measured.peakMiB * 1_024) / agents).toFixed(0)} KiB an agent`,
        ],
        [
          'longest stall of the engine',
          measured.longestStallMs === undefined ? 'none told' : `${measured.longestStallMs.toFixed(0)} ms`,
          '',
        ],
        ['status, the command', ...times(figures.statusMs)],
        ['status, its own part', ...times(figures.statusInsideMs)],
        ['bare start of Node beside it', ...times(figures.bareNodeMs)],
        ['journal', verified.slice(0, 60), ''],
      ],
    );
  }
  if (lines.lost > 0 || lines.goalMet !== agents || measured.aliveS === undefined) process.exitCode = 1;
} finally {
  fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
