import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '../core/fault.ts';
import { oneLine } from '../core/text.ts';
import { gitEnvironment, gitSettings } from './git-environment.ts';
import { runBounded } from './run-bounded.ts';

export interface GitCall {
  readonly input?: string | Uint8Array;
  /** Added to the clean environment, e.g. GIT_INDEX_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further settings, `name=value`. */
  readonly settings?: readonly string[];
  /** Exit codes that are answers, not faults; 0 always is. */
  readonly allow?: readonly number[];
  readonly limitMs?: number;
  readonly outputBytes?: number;
  /** How long a lock that another process holds is waited for. */
  readonly lockWaitMs?: number;
}

export interface GitOutput {
  readonly code: number;
  readonly bytes: Buffer;
  readonly errors: string;
}

/** Git in one folder. Every call has a clean environment, no hooks, no shell, a time limit and a bound on its output. */
export interface Git {
  readonly dir: string;
  /** @throws Fault `GIT_FAILED`, `GIT_TIMED_OUT`, `GIT_OUTPUT_TOO_LARGE`, `GIT_LOCKED`, `GIT_NOT_STARTED`, `GIT_LOST` */
  run(args: readonly string[], call?: GitCall): Promise<GitOutput>;
  /** Standard output as text, without the last line feed. */
  line(args: readonly string[], call?: GitCall): Promise<string>;
  /** Fields of `-z` output. */
  fields(args: readonly string[], call?: GitCall): Promise<string[]>;
}

const defaultLimitMs = 300_000;
const defaultOutputBytes = 256 * 1024 * 1024;
/** Another git process holds a lock for milliseconds, an editor for a second or two. */
const defaultLockWaitMs = 10_000;
const firstPauseMs = 50;
const longestPauseMs = 800;

const heldLock = /(?:unable to create|could not lock|cannot lock|unable to lock)[^\n]*file exists/i;

/** Commands that may talk to another machine. */
const overNetwork: ReadonlySet<string> = new Set(['fetch', 'push', 'ls-remote', 'clone', 'submodule']);

const firstLine = (errors: string): string =>
  oneLine(errors.split('\n').find((line) => /^(?:fatal|error):/.test(line)) ?? errors.split('\n')[0] ?? '', 300);

const faults = {
  'timed-out': 'GIT_TIMED_OUT',
  'too-much-output': 'GIT_OUTPUT_TOO_LARGE',
  'not-started': 'GIT_NOT_STARTED',
  lost: 'GIT_LOST',
  exited: 'GIT_FAILED',
} as const;

/**
 * @param dir folder the command runs in; must exist
 * @param explicit names the git folder and work tree instead of letting git look for them upward: in an agent's folder the link that
 *   git would follow is the agent's to change
 */
export const createGit = (dir: string, explicit?: { readonly gitDir: string; readonly workTree?: string }): Git => {
  const place = [
    ...(explicit === undefined ? [] : [`--git-dir=${explicit.gitDir}`]),
    ...(explicit?.workTree === undefined ? [] : [`--work-tree=${explicit.workTree}`]),
  ];

  const run = async (args: readonly string[], call: GitCall = {}): Promise<GitOutput> => {
    const env = gitEnvironment(process.env);
    const settings = [...gitSettings(env), ...(call.settings ?? []).flatMap((setting) => ['-c', setting])];
    const limitMs = call.limitMs ?? defaultLimitMs;
    const lockWaitMs = call.lockWaitMs ?? defaultLockWaitMs;
    let waitedMs = 0;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const program = {
        command: 'git',
        args: [...settings, ...place, ...args],
        cwd: dir,
        env: { ...env, ...call.env },
        input: call.input,
        limitMs,
        outputBytes: call.outputBytes ?? defaultOutputBytes,
      };
      const result = await runBounded(program, overNetwork.has(args[0] ?? '') ? 'network' : 'machine');
      if (result.end === 'exited' && (result.code === 0 || call.allow?.includes(result.code) === true)) {
        return { code: result.code, bytes: result.stdout, errors: result.stderr };
      }
      const locked = result.end === 'exited' && heldLock.test(result.stderr);
      if (locked && waitedMs < lockWaitMs) {
        await wait(pauseMs);
        waitedMs += pauseMs;
        continue;
      }
      const command = `git ${args.slice(0, 6).join(' ')}`;
      const data = {
        command: ['git', ...args],
        dir,
        exitCode: result.code,
        end: result.end,
        limitMs,
        stderr: result.stderr.slice(0, 4_000),
      };
      if (locked) {
        throw new Fault('GIT_LOCKED', `Another process has held a git lock for ${lockWaitMs / 1000} s: ${firstLine(result.stderr)}`, {
          hint: 'Wait for the other git process to end; if none is running, remove the lock file named above.',
          data,
        });
      }
      const what = {
        exited: `ended with ${result.code}`,
        'timed-out': `did not end within ${limitMs / 1000} s and was stopped`,
        'too-much-output': 'printed more than its limit and was stopped',
        'not-started': 'could not be started',
        lost: 'came to an end that is not known, because the process that had started it was ended',
      }[result.end];
      throw new Fault(faults[result.end], `${oneLine(command, 160)} ${what}: ${firstLine(result.stderr) || 'no message'}`, { data });
    }
  };

  const text = async (args: readonly string[], call?: GitCall): Promise<string> => (await run(args, call)).bytes.toString('utf8');
  return {
    dir,
    run,
    line: async (args, call) => (await text(args, call)).replace(/\n$/, ''),
    fields: async (args, call) => (await text(args, call)).split('\0').filter((field) => field !== ''),
  };
};
