// The engine's side of the runner: the small process that starts short programs for it (runner-main.ts).
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { markName, sweepMarked } from '../process/index.ts';
import { type BoundedCall, type BoundedEnd, runHere } from './run-here.ts';

/** From the engine to the runner. */
export interface RunnerRequest {
  readonly id: number;
  readonly call: BoundedCall;
}

/** From the runner to the engine. */
export interface RunnerAnswer {
  readonly id: number;
  readonly end: Omit<BoundedEnd, 'stdout'> & { readonly stdout: Uint8Array };
}

interface Waiting {
  readonly call: BoundedCall;
  readonly resolve: (end: BoundedEnd) => void;
}

export interface Runner {
  run(call: BoundedCall): Promise<BoundedEnd>;
  /** Lets the runner end; programs it still runs are ended with it. */
  close(): void;
}

/** A runner that ends so often by itself is not started again: from then on the engine starts its programs itself. */
const endsBorne = 3;

/**
 * Starts the runner with the first call. When it ends by itself, what it was to run is killed, by the marker in its environment, and told as
 * `lost`; the next call starts another runner. A call is run here only when no runner could be started: one that was sent may have begun.
 */
export const startRunner = ([program = '', ...args]: readonly string[]): Runner => {
  const marker = `runner-${randomUUID()}`;
  const waiting = new Map<number, Waiting>();
  let runner: ChildProcess | undefined;
  let lastId = 0;
  let ends = 0;
  let isClosed = false;

  const onAnswer = (message: unknown): void => {
    // Sent by our own program over a channel that nobody else holds.
    const { id, end } = message as RunnerAnswer;
    const { buffer, byteOffset, byteLength } = end.stdout;
    waiting.get(id)?.resolve({ ...end, stdout: Buffer.from(buffer, byteOffset, byteLength) });
    waiting.delete(id);
    // An idle runner keeps no process up.
    if (waiting.size === 0) runner?.channel?.unref();
  };

  const lose = async (calls: readonly Waiting[]): Promise<void> => {
    await sweepMarked(marker);
    for (const { resolve } of calls) resolve({ end: 'lost', code: -1, stdout: Buffer.alloc(0), stderr: '' });
  };

  const onGone = (gone: ChildProcess): void => {
    if (runner !== gone) return;
    runner = undefined;
    ends += 1;
    const calls = [...waiting.values()];
    waiting.clear();
    if (calls.length === 0) return;
    if (gone.pid === undefined) for (const { call, resolve } of calls) void runHere(call).then(resolve);
    else void lose(calls);
  };

  const start = (): ChildProcess => {
    // In a group of its own: the keys that end the engine in a terminal must not end what its last steps need.
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
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
        waiting.set(id, { call, resolve });
        to.channel?.ref();
        const request: RunnerRequest = { id, call: { ...call, env: { ...call.env, [markName]: marker } } };
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
