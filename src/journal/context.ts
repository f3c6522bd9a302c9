import type { EpochMs } from '../core/ids.ts';
import { canonicalJson } from './chain.ts';
import { createEmitter } from './emitter.ts';
import { decodeJson, encodeJson } from './json.ts';
import { assertDomainKind } from './names.ts';
import { notBuilt } from './not-built.ts';
import { performSleep } from './perform-sleep.ts';
import { performSpawn, type SpawnTools } from './perform-spawn.ts';
import { performStep } from './perform-step.ts';
import type { RunContext } from './port.ts';
import { showView } from './run-records.ts';
import { freshStep, replayed, type Scope } from './scope.ts';
import { writeDomainFact } from './step-records.ts';

export interface Cleanup {
  readonly key: string;
  readonly effect: () => Promise<void>;
}

export interface ContextTools extends SpawnTools {
  readonly clock: () => EpochMs;
  readonly chance: () => number;
}

/** A value that is taken once and recorded; there is no effect, so no intent either. */
const performValue = async (scope: Scope, key: string, take: () => number): Promise<number> => {
  const known = replayed(scope, scope.enter(key, 'value'));
  if (known !== undefined) return Number(known.value);
  return Number(await scope.complete(freshStep(key, 'value', scope.run.generation), take()));
};

const performRecord = async (scope: Scope, key: string, fact: { readonly kind: string; readonly data: unknown }): Promise<void> => {
  assertDomainKind(fact.kind);
  if (replayed(scope, scope.enter(key, 'fact')) !== undefined) return;
  const data = canonicalJson(decodeJson(encodeJson(fact.data, `The fact ${fact.kind}`)));
  const step = { ...freshStep(key, 'fact', scope.run.generation), state: 'done' as const };
  await scope.store.write((transaction) => writeDomainFact(transaction, scope.run.id, step, { kind: fact.kind, data }));
  scope.steps.set(key, step);
};

/**
 * What the handler of one execution gets.
 * @param cleanups filled in the order of registration
 */
export const createContext = (scope: Scope, tools: ContextTools, cleanups: Cleanup[]): RunContext => {
  const { run } = scope;
  const view: Record<string, unknown> = { ...run.view };
  return {
    run: { id: run.id, generation: run.generation, startedAt: run.startedAt, parent: run.parent, labels: run.labels },
    signal: scope.signal,
    step: (key, options, effect) => scope.operation(() => performStep(scope, { key, options, effect })),
    spawn: (key, spec, options = {}) => scope.operation(() => performSpawn(scope, tools, { key, spec, options })),
    sleep: (key, ms) => scope.operation(() => performSleep(scope, { key, ms, clock: tools.clock })),
    now: async (key) => (await scope.operation(() => performValue(scope, key, tools.clock))) as EpochMs,
    random: (key) => scope.operation(() => performValue(scope, key, tools.chance)),
    record: (key, kind, data) => scope.operation(() => performRecord(scope, key, { kind, data })),
    sleepUntil: async () => notBuilt('RunContext.sleepUntil'),
    uuid: async () => notBuilt('RunContext.uuid'),
    waitFor: async () => notBuilt('RunContext.waitFor'),
    child: async () => notBuilt('RunContext.child'),
    map: async () => notBuilt('RunContext.map'),
    race: async () => notBuilt('RunContext.race'),
    budget: {
      remaining: () => notBuilt('RunBudget.remaining'),
      reserve: async () => notBuilt('RunBudget.reserve'),
      charge: async () => notBuilt('RunBudget.charge'),
    },
    emit: createEmitter(scope),
    version: async () => notBuilt('RunContext.version'),
    continueAs: async () => notBuilt('RunContext.continueAs'),
    set: (name, value) => {
      scope.assertOpen();
      view[name] = value;
      const text = encodeJson(view, `The view of run ${run.id}`) ?? '{}';
      void scope.operation(() => scope.store.write((transaction) => showView(transaction, run.id, text)));
    },
    cleanup: (key, effect) => {
      scope.enter(key, 'cleanup');
      cleanups.push({ key, effect });
    },
  };
};
