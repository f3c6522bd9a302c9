// Gyre's own overhead per task, start-up and memory, beside a plain shell script that takes the same git steps. All figures of one call
// come from one run on one machine; ratios are taken within it.
// Usage: npm run bench [-- --json] [-- --tasks n]
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFacts, median, printTable } from './table.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, tasks: { type: 'string', default: '8' } } });
const tasks = Number(values.tasks);
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gyre-bench-'));
const env = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: path.join(root, 'state'), LANG: 'C.UTF-8' };
const names = Array.from({ length: tasks }, (_, index) => `item${index + 1}`);

const makeRepository = (name: string): string => {
  const dir = path.join(root, name);
  fs.mkdirSync(path.join(dir, '.gyre', 'loops'), { recursive: true });
  fs.writeFileSync(path.join(dir, 'TODO.md'), names.map((item) => `- [ ] Make ${item}\n  check: test -f ${item}\n`).join(''));
  fs.writeFileSync(path.join(dir, 'README.md'), 'bench\n');
  // Two hundred files, so that checkouts are not free.
  for (let file = 0; file < 200; file += 1) fs.writeFileSync(path.join(dir, `file${file}.txt`), 'x'.repeat(2_000));
  fs.writeFileSync(path.join(dir, 'agent.sh'), `item=$(sed -n 's/.*Make \\(item[0-9]*\\).*/\\1/p' | head -1)\ntouch "$item"\n`);
  fs.writeFileSync(
    path.join(dir, '.gyre', 'loops', 'bench.md'),
    '---\ndiscover:\n  - tasks: TODO.md\nverify:\n  - run: test -f README.md\nagent: { use: command, command: sh agent.sh }\nland: { as: branch }\n---\n{{ task.title }}\n',
  );
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid', ...args], { cwd: dir, env });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'bench');
  return dir;
};

/** The same git steps by hand: worktree, agent, commit, two clean checkouts (base and candidate), two checks each, branch, removal. */
const plainScript = `set -e
state="$1"; mkdir -p "$state"
for item in ${names.join(' ')}; do
  git worktree add --quiet --detach "$state/w" main
  (cd "$state/w" && echo "Make $item" | sh agent.sh && git add --all && git -c user.name=b -c user.email=b@example.invalid commit --quiet --message "$item")
  commit=$(git -C "$state/w" rev-parse HEAD)
  for side in main "$commit"; do
    git clone --quiet --shared --no-checkout . "$state/c" && git -C "$state/c" checkout --quiet --detach "$side"
    (cd "$state/c" && sh -c "test -f $item" || true)
    (cd "$state/c" && sh -c "test -f README.md")
    rm -rf "$state/c"
  done
  git branch "plain/$item" "$commit"
  git worktree remove --force "$state/w"
done
`;

const timed = (run: () => void): number => {
  const begun = performance.now();
  run();
  return performance.now() - begun;
};

interface Shown {
  readonly attemptViews: readonly { readonly agent: { readonly process: { readonly wallMs: number } } }[];
  readonly evidence: readonly {
    readonly checks: readonly {
      readonly candidate: { readonly durationMs: number };
      readonly base: { readonly runs: readonly { readonly durationMs: number }[] };
    }[];
  }[];
}

/** Most resident memory of a process while it runs, in MiB, by polling the kernel's own high-water mark. */
const runWithMemory = async (
  dir: string,
  args: readonly string[],
): Promise<{ readonly ms: number; readonly mib: number; readonly code: number | null }> => {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, ...args], { cwd: dir, env, stdio: 'ignore' });
  let mib = 0;
  const poll = setInterval(() => {
    try {
      mib = Math.max(mib, Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024);
    } catch {
      // Ended, or a system without /proc: memory stays 0 and is printed as unknown.
    }
  }, 20);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearInterval(poll);
  return { ms: performance.now() - begun, mib, code };
};

try {
  const plainDir = makeRepository('plain');
  const gyreDir = makeRepository('gyre');
  const plainMs = timed(
    () => void execFileSync('sh', ['-c', plainScript, 'plain', path.join(root, 'plain-state')], { cwd: plainDir, env, stdio: 'ignore' }),
  );
  const run = await runWithMemory(gyreDir, ['run']);
  if (run.code !== 0) throw new Error(`gyre run ended with ${run.code}`);

  const gyre = (...args: string[]): string =>
    execFileSync(process.execPath, [program, ...args], { cwd: gyreDir, env, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const { runs } = JSON.parse(gyre('status', '--all', '--json')) as { runs: readonly { run: string }[] };
  let agentMs = 0;
  let checkMs = 0;
  for (const one of runs) {
    const shown = JSON.parse(gyre('show', one.run, '--evidence', '--json')) as Shown;
    for (const view of shown.attemptViews) agentMs += view.agent.process.wallMs;
    for (const record of shown.evidence)
      for (const check of record.checks)
        checkMs += check.candidate.durationMs + check.base.runs.reduce((sum, observed) => sum + observed.durationMs, 0);
  }
  const startMs = (...args: string[]): number =>
    median(
      Array.from({ length: 15 }, () =>
        timed(() => void spawnSync(process.execPath, [program, ...args], { cwd: gyreDir, env, stdio: 'ignore' })),
      ),
    );
  const nodeMs = median(
    Array.from({ length: 15 }, () => timed(() => void spawnSync(process.execPath, ['-e', '0'], { env, stdio: 'ignore' }))),
  );

  const overheadMs = (run.ms - agentMs - checkMs) / tasks;
  const figures = {
    machine: machineFacts(),
    tasks,
    wallPerTaskMs: run.ms / tasks,
    agentPerTaskMs: agentMs / tasks,
    checksPerTaskMs: checkMs / tasks,
    overheadPerTaskMs: overheadMs,
    plainScriptPerTaskMs: plainMs / tasks,
    wallRatioToPlainScript: run.ms / plainMs,
    helpMs: startMs('--help'),
    statusMs: startMs('status'),
    bareNodeMs: nodeMs,
    peakMemoryMiB: run.mib === 0 ? undefined : run.mib,
  };
  if (values.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else {
    process.stdout.write(`${figures.machine}\n${tasks} tasks, one scripted attempt each\n\n`);
    printTable(
      ['figure', 'value', 'beside'],
      [
        [
          'wall per task',
          `${figures.wallPerTaskMs.toFixed(0)} ms`,
          `plain script ${figures.plainScriptPerTaskMs.toFixed(0)} ms, ratio ${figures.wallRatioToPlainScript.toFixed(1)}`,
        ],
        ['of it agent', `${figures.agentPerTaskMs.toFixed(0)} ms`, ''],
        ['of it checks', `${figures.checksPerTaskMs.toFixed(0)} ms`, ''],
        ["of it Gyre's own", `${figures.overheadPerTaskMs.toFixed(0)} ms`, ''],
        [
          'start-up of --help',
          `${figures.helpMs.toFixed(0)} ms`,
          `bare node ${nodeMs.toFixed(0)} ms, ratio ${(figures.helpMs / nodeMs).toFixed(1)}`,
        ],
        [
          'start-up of status',
          `${figures.statusMs.toFixed(0)} ms`,
          `bare node ${nodeMs.toFixed(0)} ms, ratio ${(figures.statusMs / nodeMs).toFixed(1)}`,
        ],
        ['peak memory of the engine', figures.peakMemoryMiB === undefined ? 'unknown' : `${figures.peakMemoryMiB.toFixed(0)} MiB`, ''],
      ],
    );
  }
} finally {
  fs.rmSync(root, { recursive: true, force: true });
}
