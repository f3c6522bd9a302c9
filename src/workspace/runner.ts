// The engine's side of the runner: the small process that starts short programs for it (runner-main.ts).
import { type ChildProcess, spawn } from 'node:child_process';
import { type BoundedCall, type BoundedEnd, runHere, signalGroup } from './run-here.ts';

/** From the engine to the runner. */
export interface RunnerRequest {
  readonly id: number;
  readonly call: BoundedCall;
}

/** From the runner to the engine: first the pid, so that a program can be ended when the runner is gone, then the end. */
export type RunnerAnswer =
  { readonly id: number; readonly pid: number } | { readonly id: number; readonly end: Omit<BoundedEnd, 'stdout'> & { readonly stdout: Uint8Array } };

interface Waiting {
  readonly call: BoundedCall;
  readonly resolve: (end: BoundedEnd) => void;
  pid: number | undefined;
}

export interface Runner {
  run(call: BoundedCall): Promise<BoundedEnd>;
  /** Lets the runner end; programs it still runs are ended with it. */
  close(): void;
}

/** A runner that ends so often by itself is not started again: from then on the engine starts its programs itself. */
const endsBorne = 3;

/**
 * Starts the runner with the first call. When it ends by itself, what it was to run is told as `lost` (and killed, where its pid is known),
 * and the next call starts another. A call is run here only when no runner could be started: one that was sent may have begun.
 */
export const startRunner = ([program = '', ...args]: readonly string[]): Runner => {
  const waiting = new Map<number, Waiting>();
  let runner: ChildProcess | undefined;
  let lastId = 0;
  let ends = 0;
  let isClosed = false;

  const settle = (id: number, end: BoundedEnd): void => {
    waiting.get(id)?.resolve(end);
    waiting.delete(id);
    // An idle runner keeps no process up.
    if (waiting.size === 0) runner?.channel?.unref();
  };

  const onAnswer = (message: unknown): void => {
    // Sent by our own program over a channel that nobody else holds.
    const answer = message as RunnerAnswer;
    const one = waiting.get(answer.id);
    if ('pid' in answer) {
      if (one !== undefined) one.pid = answer.pid;
    } else settle(answer.id, { ...answer.end, stdout: Buffer.from(answer.end.stdout.buffer, answer.end.stdout.byteOffset, answer.end.stdout.byteLength) });
  };

  const onGone = (gone: ChildProcess): void => {
    if (runner !== gone) return;
    runner = undefined;
    ends += 1;
    for (const [id, { call, pid, resolve }] of waiting) {
      waiting.delete(id);
      if (gone.pid === undefined) void runHere(call).then(resolve);
      else {
        signalGroup(pid, 'SIGKILL');
        resolve({ end: 'lost', code: -1, stdout: Buffer.alloc(0), stderr: '' });
      }
    }
  };

  const start = (): ChildProcess => {
    // In a group of its own: the keys that end the engine in a terminal must not end what its last steps need.
    const child = spawn(program, args, { cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], serialization: 'advanced' });
    child.on('message', onAnswer);
    child.once('error', () => onGone(child));
    child.once('exit', () => onGone(child));
    child.once('disconnect', () => onGone(child));
    child.unref();
    return child;
  };

  return {
    run: (call) => {
      if (isClosed || ends >= endsBorne) return runHere(call);
      runner ??= start();
      const to = runner;
      const id = (lastId += 1);
      return new Promise((resolve) => {
        waiting.set(id, { call, resolve, pid: undefined });
        to.channel?.ref();
        const request: RunnerRequest = { id, call };
        // A channel that is gone says so by its own event too.
        to.send(request, (error) => {
          if (error !== null) onGone(to);
        });
      });
    },
    close: () => {
      isClosed = true;
      if (runner?.connected === true) runner.disconnect();
    },
  };
};
