// The port through which the conformance suite sees a back end of the durable door. A new back end implements `Lab`, and calls
// `engineConformance` with it. What the suite fixes where the door leaves room:
//
//  1. A killed engine (`crash`) has written nothing after the kill; its effects that were under way may have happened.
//  2. Time passes by `time.pass` alone in a back end that can be given its clock; one that cannot lets that much time go by.
//  3. A run that is paused or needs attention is as good as not executed: whether its handler is still in memory, or is called again
//     when the run goes on, is not seen.
//  4. What a replay finds is compared by keys, kinds of facts and outcomes, never by how many facts there are in between.
import { setTimeout as delay } from 'node:timers/promises';
import { type EpochMs, runId } from '../../../src/core/ids.ts';
import type {
  Engine,
  EngineOptions,
  Fact,
  JournalReader,
  LoopHandler,
  RunHandle,
  RunRow,
  SignalReceipt,
  SignalRequest,
  StartOptions,
  StartRequest,
} from '../../../src/journal/index.ts';
import type { TestProcessHost } from '../test-process-host.ts';

export interface LabTime {
  readonly now: () => EpochMs;
  /** Lets time pass, and what is due happen. */
  pass(ms: number): Promise<void>;
  /** Sets the clock alone, forwards or back: a suspended machine, a corrected clock. */
  jump(ms: number): void;
}

/** Options of the engine that a test may choose. */
export type LabOptions = Partial<Pick<EngineOptions, 'slots' | 'chance'>> & {
  /** Ends the engine as a kill does, at a write: before it is made, or between it and its acknowledgement. */
  readonly beforeCommit?: () => void;
  readonly afterCommit?: () => void;
};

/** What other processes ask of the owner; see the types of the door. */
export interface LabRequests {
  start(request: StartRequest): { readonly run: RunRow['id']; readonly existing: boolean };
  signal(request: SignalRequest): SignalReceipt;
  cancel(run: string, reason: string): boolean;
  state(run: string, want: 'pause' | 'resume', reason: string): boolean;
}

/** One state home, and the engines that own it one after the other. Disposing closes and removes everything. */
export interface Lab extends AsyncDisposable {
  /** A folder of the test's own; its name is the state home's, with more behind it. */
  readonly stateHome: string;
  readonly processes: TestProcessHost;
  readonly time: LabTime;
  readonly requests: LabRequests;
  open(options?: LabOptions): Promise<Engine>;
  /** The storage refuses every write from now on. @returns what ends that */
  outage(): () => void;
  /** Ends an engine as a kill does. */
  crash(engine: Engine): Promise<void>;
}

export type MakeLab = () => Lab;

export const loop = (handle: LoopHandler['handle'], name = 'test-loop', version = 1): LoopHandler => ({ name, version, handle });

export const start = { id: runId('r1'), dedupeKey: 'task-1' };

export const startOf = (id: string, more: Partial<StartOptions> = {}): StartOptions => ({
  id: runId(id),
  dedupeKey: `task ${id}`,
  ...more,
});

const stepMs = 10;
const patienceMs = 20_000;

/** Polls, letting time pass, until it holds. */
export const until = async (lab: Lab, what: string, holds: () => boolean): Promise<void> => {
  for (let waitedMs = 0; !holds(); waitedMs += stepMs) {
    if (waitedMs > patienceMs) throw new Error(`Waited ${patienceMs} ms for: ${what}`);
    await Promise.all([lab.time.pass(stepMs), delay(waitedMs < 500 ? 1 : stepMs)]);
  }
};

/** The end of a run, letting time pass. */
export const endOf = async (lab: Lab, handle: RunHandle | undefined): Promise<RunRow> => {
  if (handle === undefined) throw new Error('There is no such run.');
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  handle.ended.then(settle, settle);
  await until(lab, `the end of run ${handle.id}`, () => isSettled);
  return handle.ended;
};

/** Starts a run and waits for its end. */
export const runToEnd = async (
  lab: Lab,
  engine: Engine,
  run: { handler: LoopHandler; input?: unknown; start?: StartOptions },
): Promise<RunRow> => endOf(lab, await engine.start(run.handler, run.input ?? null, run.start ?? start));

/** Kills an engine, opens the next one, and recovers one run with it. */
export const restart = async (
  lab: Lab,
  engine: Engine,
  handlers: readonly LoopHandler[],
): Promise<{ readonly engine: Engine; readonly handle: RunHandle | undefined }> => {
  await lab.crash(engine);
  const next = await lab.open();
  const [handle] = await next.recover(handlers);
  return { engine: next, handle };
};

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

export const kindsOf = (facts: readonly Fact[]): readonly string[] => facts.map((fact) => fact.kind);

/** The facts of one kind about one key. */
export const factsOf = (reader: JournalReader, kind: string, key?: string): readonly Fact[] =>
  reader.facts().filter((fact) => fact.kind === kind && (key === undefined || (fact.data as { key?: string }).key === key));

/** A gate that a test opens. */
export const gate = (): { readonly opened: Promise<void>; readonly open: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
};
