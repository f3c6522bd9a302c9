// Plays a scenario on a back end, with kills, and says what came of it.
import { Fault } from '../../../src/core/fault.ts';
import { runId } from '../../../src/core/ids.ts';
import type { Engine, EngineOptions, JournalReader, Timers } from '../../../src/journal/index.ts';
import { createFakeTime } from '../conformance/time.ts';
import { createTestProcessHost } from '../test-process-host.ts';
import { programLoop } from './program.ts';
import type { Happening, Scenario } from './scenario.ts';

/** A back end whose state outlives its engines. */
export interface Ground {
  open(
    options: EngineOptions & { readonly timers: Timers },
    hooks: { readonly beforeCommit: () => void; readonly afterCommit: () => void },
  ): Promise<Engine>;
  close(): void;
}

export interface Observed {
  readonly runs: Readonly<Record<string, unknown>>;
  /** What is recorded of each step. */
  readonly steps: Readonly<Record<string, unknown>>;
  readonly notes: readonly unknown[];
  readonly signals: readonly unknown[];
  /** What must never be. */
  readonly violations: readonly string[];
}

interface StepData {
  readonly key: string;
  readonly kind: string;
  readonly outcome?: unknown;
  readonly error?: { readonly code: string };
}

const settledSteps = (reader: JournalReader): readonly (readonly [string, unknown])[] =>
  reader
    .facts()
    .filter(({ kind }) => kind === 'step.completed' || kind === 'step.failed')
    .map(({ run, data }) => ({ run, ...(data as StepData) }))
    .filter(({ kind }) => kind === 'step')
    .map(({ run, key, outcome, error }) => [`${run}/${key}`, error?.code ?? outcome ?? null]);

const observe = (reader: JournalReader, found: readonly string[]): Observed => {
  const violations = [...found];
  const steps: Record<string, unknown> = {};
  for (const [name, outcome] of settledSteps(reader)) {
    if (name in steps) violations.push(`${name} is recorded twice`);
    steps[name] = outcome;
  }
  const runs = reader.runs().map(({ id, state, output, error, spent, generation, waits }) => {
    return [id, { state, output, code: error?.code, spent, generation, waits }] as const;
  });
  const notes = reader
    .facts()
    .filter(({ kind }) => kind === 'note.made')
    .map(({ data }) => JSON.stringify(data));
  if (new Set(notes).size < notes.length) violations.push('a fact is recorded twice');
  const signals = reader
    .runs()
    .flatMap(({ id }) => reader.signals(id).map(({ name, payload, takenBy }) => ({ run: id, name, payload, takenBy })));
  if (!reader.verify().ok) violations.push('the chain does not hold');
  return { runs: Object.fromEntries(runs), steps, notes: notes.toSorted(), signals, violations };
};

/** Longer than any program takes by itself. */
const longMs = 20_000;

export const play = async (ground: Ground, scenario: Scenario): Promise<Observed> => {
  const violations: string[] = [];
  const crashes = [...scenario.crashes];
  let recorded: ReadonlySet<string> = new Set();
  let engine: Engine | undefined;
  let isDead = false;
  let writes = 0;

  const handler = programLoop((name) => {
    if (recorded.has(name)) violations.push(`${name} is performed after it was recorded`);
  });

  /** Opens an engine that the next crash of the scenario ends. */
  const openNext = async (): Promise<void> => {
    const crash = crashes.shift();
    let written = 0;
    isDead = false;
    const die = (when: 'before' | 'after') => (): void => {
      writes += 1;
      if (when === 'before') written += 1;
      // A killed engine writes nothing more.
      isDead ||= crash?.when === when && crash.write === written;
      if (isDead) throw new Fault('ENGINE_STOPPED', 'The test ends the engine here.');
    };
    const options = { stateHome: '/nowhere', processes: createTestProcessHost(), clock: time.now, timers: time.timers, chance: () => 0.5 };
    engine = await ground.open(options, { beforeCommit: die('before'), afterCommit: die('after') });
    recorded = new Set(settledSteps(engine.reader).map(([name]) => name));
    await engine.recover([handler]).catch(() => {});
    for (const [index, program] of scenario.programs.entries()) {
      await engine.start(handler, program, { id: runId(`r${index}`), dedupeKey: `task-${index}`, budget: { usd: 100 } }).catch(() => {});
    }
  };

  const revive = async (): Promise<boolean> => {
    if (!isDead) return false;
    await engine?.[Symbol.asyncDispose]();
    await openNext();
    return true;
  };
  const time = createFakeTime({ writes: () => writes, whenQuiet: revive });

  /** Tries until an engine lived long enough. */
  const insist = async (ask: (alive: Engine) => Promise<unknown>): Promise<void> => {
    for (let tries = 0; tries <= scenario.crashes.length + 1; tries += 1) {
      await revive();
      try {
        if (engine !== undefined) await ask(engine);
        return;
      } catch {
        await time.pass(0);
      }
    }
    violations.push('a request was never taken');
  };

  const happen = async (happening: Happening, index: number): Promise<void> => {
    if (happening.what === 'kill') {
      isDead = true;
      return;
    }
    const run = `r${happening.run}`;
    if (happening.what === 'cancel') await insist((alive) => alive.cancel(run, { reason: 'as planned' }));
    else await insist((alive) => alive.signal(run, happening.signal, index, { dedupeKey: `s${index}` }));
  };

  await openNext();
  let at = 0;
  for (const [index, happening] of scenario.happenings.entries()) {
    await time.pass(happening.at - at);
    at = happening.at;
    await happen(happening, index);
  }
  await time.pass(longMs);
  for (const index of scenario.programs.keys()) await insist((alive) => alive.cancel(`r${index}`, { reason: 'the end' }));
  await time.pass(longMs);
  const observed = observe((engine as unknown as Engine).reader, violations);
  await (engine as unknown as Engine)[Symbol.asyncDispose]();
  ground.close();
  return observed;
};
