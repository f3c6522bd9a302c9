// The life of one job under the shim: take it, start the program, keep its output, hold the limits, end the tree, write the result.
import { setTimeout as sleep } from 'node:timers/promises';

import { isAlive, selfIdentity } from './identity.ts';
import { neverRan, readControl, readSpec, takeClaim, writeProgram, writeResult } from './job-files.ts';
import type { StoredResult, StoredSpec } from './job-files.ts';
import { climb } from './ladder.ts';
import { launch } from './launch.ts';
import type { Exit, Launched } from './launch.ts';
import { endRest, joinSafely, keepStream } from './shim-effects.ts';
import type { ProcessEnd } from './port.ts';
import { launchOf, unpackEnv } from './shim-env.ts';
import { forgetClosing } from './stream-join.ts';
import { StreamKeeper } from './stream-keeper.ts';
import { streamLayout } from './stream-layout.ts';
import { Lineage, endTree } from './sweep.ts';
import { startWatching } from './watching.ts';

/** A full disk may be freed: the result is tried this often, `resultPauseMs` apart, before the job is left to be found lost. */
const resultTries = 120;
const resultPauseMs = 500;
const lastSweepMs = 5_000;

/** The first reason to end stands; later ones change nothing. */
class EndBox {
  reason: ProcessEnd | undefined;
  readonly asked: Promise<void>;
  #settle: () => void = () => {};

  constructor() {
    this.asked = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  readonly ask = (reason: ProcessEnd): void => {
    this.reason ??= reason;
    this.#settle();
  };
}

interface Job {
  readonly jobDir: string;
  readonly spec: StoredSpec;
  readonly end: EndBox;
}

const followProgram = async ({ jobDir, spec, end }: Job, program: Launched): Promise<StoredResult> => {
  const startedAt = Date.now();
  const started = performance.now();
  writeProgram(jobDir, { program: program.identity, startedAt });
  const layout = streamLayout(spec.limits.outputBytes);
  const lineage = new Lineage(program.identity);
  const watching = startWatching({ jobDir, spec, pid: program.identity.pid, lineage, ask: end.ask });
  const stdout = new StreamKeeper({ dir: jobDir, name: 'stdout', layout });
  const stderr = new StreamKeeper({ dir: jobDir, name: 'stderr', layout });
  const closed = Promise.all([
    keepStream(program.stdout, { keeper: stdout, onOutput: watching.sawOutput }),
    keepStream(program.stderr, { keeper: stderr, onOutput: watching.sawOutput }),
  ]);

  let exit: Exit | undefined = await Promise.race([program.exited, end.asked.then(() => undefined)]);
  const reason = exit === undefined ? (end.reason ?? 'cancelled') : 'exited';
  lineage.look();
  exit ??= await climb({ group: program.identity.pid, exited: program.exited, askSignal: spec.askSignal, graceMs: spec.limits.graceMs });
  const endedAt = Date.now();
  const wallMs = performance.now() - started;
  const aside = spec.ownerTakesOrphans ? undefined : spec.owner;
  const rest = await endRest({ marker: spec.marker, aside, program, lineage, closed });
  const watch = watching.stop();
  stdout.close();
  stderr.close();
  const joined = { stdout: joinSafely({ jobDir, layout, keeper: stdout }), stderr: joinSafely({ jobDir, layout, keeper: stderr }) };
  return {
    end: reason,
    exitCode: exit?.code ?? null,
    signal: exit?.signal ?? null,
    startedAt,
    endedAt,
    wallMs: Math.round(wallMs + watch.suspendedMs - watch.stoppedMs),
    suspendedMs: Math.round(watch.suspendedMs),
    orphansKilled: rest.orphansKilled,
    problem: [rest.problem, stdout.problem, stderr.problem, joined.stdout.problem, joined.stderr.problem].filter(Boolean).join(' '),
    stdout: joined.stdout.stream,
    stderr: joined.stderr.stream,
  };
};

const perform = async (job: Job, env: Readonly<Record<string, string | undefined>>): Promise<StoredResult> => {
  const { jobDir, spec, end } = job;
  const requested = readControl(jobDir) ?? end.reason;
  if (requested !== undefined) return neverRan(requested, { problem: 'It was to be ended before it was started.', at: Date.now() });
  if (spec.whenOwnerDies === 'end' && !isAlive(spec.owner)) {
    return neverRan('owner-died', { problem: 'The engine that asked for it was gone before it was started.', at: Date.now() });
  }
  const launched = await launch({ jobDir, spec, env: unpackEnv(env, spec) });
  if (!launched.started) return neverRan('not-started', { problem: launched.problem, at: Date.now() });
  try {
    return await followProgram(job, launched.program);
  } catch (error) {
    // Our own failure must not leave a program behind that nobody watches. The engine finds no result and reports the job lost.
    await endTree({ leader: launched.program.identity, known: [], self: process.pid, marker: spec.marker, boundMs: lastSweepMs });
    throw error;
  }
};

const writePersistently = async (jobDir: string, result: StoredResult): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return writeResult(jobDir, result);
    } catch (error) {
      if (tries === resultTries) throw error;
      await sleep(resultPauseMs);
    }
  }
};

/**
 * Does the job of a folder, if it is still to be done and this shim is the one to do it; otherwise returns at once.
 * @param env the shim's own environment, which carries that of the program (shim-env.ts)
 * @throws what is wrong with the shim itself or its folder; never for what the program did
 */
export const supervise = async (jobDir: string, env: Readonly<Record<string, string | undefined>>): Promise<void> => {
  const end = new EndBox();
  // Before the claim: from then on others know this process and may signal it. Without a request on file it is the system that ends us.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end.ask(readControl(jobDir) ?? 'cancelled'));
  process.on('SIGHUP', () => {});
  const spec = readSpec(jobDir);
  if (spec?.launch !== launchOf(env)) return;
  const claim = { by: 'shim', launch: spec.launch, shim: selfIdentity(), claimedAt: Date.now() } as const;
  if (!takeClaim(jobDir, claim)) return;
  await writePersistently(jobDir, await perform({ jobDir, spec, end }, env));
  forgetClosing(jobDir);
};
