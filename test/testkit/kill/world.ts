// The world of the kill campaign: a real repository with two loops under one daemon. Their tasks come from a command whose list grows, so
// that there is work as long as the campaign lasts; their agent is a shell script that keeps a ledger outside the repository.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JournalReader, openReader } from '../../../src/journal/index.ts';
import { stateHomeOf } from '../../../src/workspace/index.ts';

const program = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** How each loop lands; also the loop's name. */
export const loops = ['branch', 'merge'] as const;
export type LoopName = (typeof loops)[number];
/** Where the loop `merge` lands: a branch that nobody has checked out. */
export const target = 'trunk';
export const everyMs = 2_000;

export interface Call {
  readonly key: string;
  readonly run: string;
  readonly attempt: number;
  /** Nanoseconds since 1970, as text of the same length. */
  readonly from: string;
  readonly to: string | undefined;
  readonly usd: number;
}

export interface World extends Disposable {
  readonly repo: string;
  readonly stateHome: string;
  git(...args: string[]): string;
  gyre(...args: string[]): string;
  /** The daemon as a child of this process. */
  daemon(): ChildProcess;
  /** Adds tasks to the list of a loop. @returns their keys */
  give(loop: LoopName, count: number): void;
  readonly given: ReadonlyMap<LoopName, readonly string[]>;
  /** Agent calls in the order they began. */
  calls(): readonly Call[];
  /** HEAD, status and stash of the user's checkout. */
  checkout(): string;
  /** Processes whose folder, arguments or environment name this world. */
  alive(): readonly string[];
  read<T>(use: (reader: JournalReader) => T): T | undefined;
  readAwhile(use: (reader: JournalReader) => Promise<void>): Promise<void>;
}

// The tasks that have not landed yet: by the branches of the repository, or by the files of the checkout it runs in.
const source = `loop="$1"; home="$(dirname "$0")"
if [ "$loop" = branch ]; then done="$(git -C "$home/repo" for-each-ref --format='%(refname:lstrip=4)' refs/heads/gyre/branch/)"
else done="$(ls out 2>/dev/null)"; fi
printf -- '-\\n%s\\n' "$done" | awk 'NR == FNR { seen[$0]; next } { split($0, part, "\\""); if (!(part[4] in seen)) print }' - "$home/tasks-$loop.jsonl"
`;

// Every fifth task takes two attempts, every ninth leaves a process behind. The ledger's lines are short: each is one write of the system.
const agent = `key="\${GYRE_TASK#item:}"; number="\${key##*[a-z]}"; ledger="$(dirname "$0")/ledger"
usd="0.0$((number % 7 + 1))$GYRE_ATTEMPT"
echo "start $key $GYRE_RUN $GYRE_ATTEMPT $(date +%s%N) $usd" >> "$ledger"
case $((number % 4)) in 0) sleep 0.1;; 1) sleep 0.4;; 2) sleep 0.8;; 3) sleep 1.5;; esac
mkdir -p out
if [ $((number % 5)) = 0 ] && [ "$GYRE_ATTEMPT" = 1 ]; then echo wrong > "out/$key"; else echo "right $key" > "out/$key"; fi
if [ $((number % 9)) = 0 ]; then sleep 600 > /dev/null 2>&1 & fi
echo "{\\"cost_usd\\":$usd}"
echo "end $key $GYRE_RUN $GYRE_ATTEMPT $(date +%s%N) $usd" >> "$ledger"
`;

const loopFile = (root: string, loop: LoopName): string =>
  `---\n${JSON.stringify({
    on: { every: `${everyMs / 1_000}s` },
    discover: [{ command: `sh '${root}/source.sh' ${loop}` }],
    agent: { use: 'command', command: `sh '${root}/agent.sh'` },
    // A verdict of the other loop is shorter, so that more of its lives get as far as landing.
    ...(loop === 'branch' ? { workspace: { setup: 'test -f README.md' } } : {}),
    verify: [{ run: '! grep -rqs wrong out && grep -q seed README.md' }],
    land: { as: loop, ...(loop === 'merge' ? { target } : {}) },
    parallel: loop === 'branch' ? 1 : 2,
  })}\n---\n{{ task.title }}\n`;

export const makeWorld = (): World => {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'gyre-kill-')));
  const repo = path.join(root, 'repo');
  const ledger = path.join(root, 'ledger');
  const env = {
    PATH: process.env['PATH'],
    HOME: path.join(root, 'home'),
    LANG: 'C.UTF-8',
    XDG_STATE_HOME: path.join(root, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  mkdirSync(env.HOME);
  mkdirSync(path.join(repo, '.gyre', 'loops'), { recursive: true });
  writeFileSync(path.join(env.HOME, '.gitconfig'), '[user]\n\tname = Sam Seed\n\temail = sam@example.invalid\n');
  writeFileSync(path.join(root, 'source.sh'), source);
  writeFileSync(path.join(root, 'agent.sh'), agent);
  writeFileSync(ledger, '');
  writeFileSync(path.join(repo, 'README.md'), 'seed\n');
  for (const loop of loops) {
    writeFileSync(path.join(root, `tasks-${loop}.jsonl`), '');
    writeFileSync(path.join(repo, '.gyre', 'loops', `${loop}.md`), loopFile(root, loop));
  }
  const run = (command: string, args: readonly string[]): string =>
    execFileSync(command, args, { cwd: repo, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 28 }).trim();
  const git = (...args: string[]): string => run('git', args);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'seed');
  git('branch', target);
  const stateHome = stateHomeOf({ commonDir: path.join(repo, '.git'), stateRoot: path.join(env.XDG_STATE_HOME, 'gyre') });
  let daemon: ChildProcess | undefined;
  const given = new Map<LoopName, string[]>(loops.map((loop) => [loop, []]));

  return {
    repo,
    stateHome,
    given,
    git,
    gyre: (...args) => run(process.execPath, [program, ...args]),
    daemon: () =>
      (daemon = spawn(process.execPath, [program, 'up', '--foreground'], { cwd: repo, env, stdio: ['ignore', 'pipe', 'pipe'] })),
    give: (loop, count) => {
      const keys = given.get(loop) ?? [];
      const more = Array.from({ length: count }, (_, index) => `${loop.slice(0, 1)}${keys.length + index + 1}`);
      keys.push(...more);
      appendFileSync(path.join(root, `tasks-${loop}.jsonl`), more.map((key) => `{"key":"${key}","title":"${key}"}\n`).join(''));
    },
    calls: () => readCalls(readFileSync(ledger, 'utf8')),
    checkout: () =>
      `${git('rev-parse', '--symbolic-full-name', 'HEAD')} ${git('rev-parse', 'HEAD')} ${git('status', '--porcelain')} ${git('stash', 'list')}`,
    alive: () => aliveNaming(root),
    read: (use) => {
      const reader = existsSync(stateHome) ? openReader(stateHome) : undefined;
      try {
        return reader === undefined ? undefined : use(reader);
      } finally {
        reader?.[Symbol.dispose]();
      }
    },
    readAwhile: async (use) => {
      const reader = existsSync(stateHome) ? openReader(stateHome) : undefined;
      try {
        if (reader !== undefined) await use(reader);
      } finally {
        reader?.[Symbol.dispose]();
      }
    },
    [Symbol.dispose]: () => {
      daemon?.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

/** Pairs the ledger's lines. An end belongs to the last begun call of its run and attempt. Pure. */
const readCalls = (text: string): readonly Call[] => {
  const calls: Call[] = [];
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [what, key = '', run = '', attempt = '', at = '', usd = ''] = line.split(' ');
    if (what === 'start') calls.push({ key, run, attempt: Number(attempt), from: at, to: undefined, usd: Number(usd) });
    else {
      const index = calls.findLastIndex((call) => call.run === run && call.attempt === Number(attempt) && call.to === undefined);
      const begun = calls[index];
      if (begun !== undefined) calls[index] = { ...begun, to: at };
    }
  }
  return calls;
};

const readOr = (read: () => string): string => {
  try {
    return read();
  } catch {
    return '';
  }
};

const aliveNaming = (root: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const argv = readOr(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      const rest = readOr(() => readFileSync(`/proc/${pid}/environ`, 'utf8')) + readOr(() => readlinkSync(`/proc/${pid}/cwd`));
      return `${argv}${rest}`.includes(root) ? [`${pid} ${argv.replaceAll('\0', ' ').replaceAll(root, '').trim()}`] : [];
    });
