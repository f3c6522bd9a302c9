// Claude Code as a plain process, headless, with its JSON events read.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { claudePath } from './claude.ts';

export interface ClaudeRun {
  readonly prompt: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ClaudeEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly events: readonly ClaudeEvent[];
  /** The last event of type `result`, empty when there was none. Work in the background makes more than one. */
  readonly result: ClaudeEvent;
  readonly stderr: string;
}

export type ClaudeEvent = Readonly<Record<string, unknown>>;

export interface RunningClaude {
  /** Sends a signal to the program alone, as a caller would. */
  kill(signal: 'SIGINT' | 'SIGTERM'): void;
  readonly ended: Promise<ClaudeEnd>;
}

// A run takes a second or two; a busy machine may need many times that.
const runMs = 80_000;

// As root, bypassing permissions is refused; accepting edits and allowing the shell is not.
const headless = ['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'];

/** Starts the program with the prompt on its standard input. It is killed after 80 s. */
export const startClaude = ({ prompt, cwd, env }: ClaudeRun): RunningClaude => {
  const program = claudePath();
  if (program === undefined) throw new Error('Claude Code is not installed.');
  const child = spawn(program, headless, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], timeout: runMs, killSignal: 'SIGKILL' });
  child.stdin.on('error', () => undefined); // It may end without reading its prompt.
  child.stdin.end(prompt);
  const streams = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = (async (): Promise<ClaudeEnd> => {
    const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null];
    const [stdout, stderr] = await streams;
    const lines = stdout.split('\n').filter((line) => line !== '');
    const events = lines.map((line) => JSON.parse(line) as ClaudeEvent);
    return { exitCode, signal, events, result: events.findLast((event) => event['type'] === 'result') ?? {}, stderr };
  })();
  return { kill: (signal) => void child.kill(signal), ended };
};
