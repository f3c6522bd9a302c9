// Entry of the runner: starts short programs (git) for an engine and tells it how they ended. It is small because starting a program copies
// the page tables of the one that starts it: the engine itself would stand still for each. It ends when the engine does, and ends what it runs.
import { setTimeout as wait } from 'node:timers/promises';
import { holdBack, stepBack } from '../process/index.ts';
import { runHere, signalGroup } from './run-here.ts';
import type { RunnerAnswer, RunnerRequest } from './runner.ts';

/** Between asking the programs to end (git removes its lock files then) and killing them. */
const graceMs = 2_000;

stepBack();
const running = new Set<number>();
const answer = (message: RunnerAnswer): void => {
  // Nobody is there any more when this fails; `disconnect` comes by itself.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
};

const serve = async ({ id, call }: RunnerRequest): Promise<void> => {
  let pid: number | undefined;
  const end = await runHere(call, (started) => {
    pid = started;
    running.add(started);
    holdBack(started);
  });
  if (pid !== undefined) running.delete(pid);
  answer({ id, end });
};
process.on('message', (request: RunnerRequest) => void serve(request));

process.once('disconnect', () => {
  void (async () => {
    for (const pid of running) signalGroup(pid, 'SIGTERM');
    for (const until = performance.now() + graceMs; running.size > 0 && performance.now() < until;) await wait(20);
    for (const pid of running) signalGroup(pid, 'SIGKILL');
    process.exit(0);
  })();
});

// The engine decides when it is over. A system that stops a service signals every process of it, while the engine still lands its last work.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
