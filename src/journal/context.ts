import type { EpochMs } from '../core/ids.ts';
import { type MakeContext } from './branch.ts';
import { encodeJson } from './json.ts';
import { encodePayload } from './payload.ts';
import { never } from './never.ts';
import { createRunBudget } from './perform-budget.ts';
import { type Kin, performChild } from './perform-child.ts';
import { performMap } from './perform-map.ts';
import { performRace } from './perform-race.ts';
import { performSleep } from './perform-sleep.ts';
import { performSpawn, type SpawnTools } from './perform-spawn.ts';
import { performStep, type StepTools } from './perform-step.ts';
import { performRecord, performValue, uuidOf } from './perform-value.ts';
import { performVersion } from './perform-version.ts';
import { performWait, type WaitTools } from './perform-wait.ts';
import type { RunContext } from './port.ts';
import { showView } from './run-records.ts';
import { branchScope, type Scope } from './scope.ts';

export interface Cleanup {
  readonly key: string;
  readonly effect: () => Promise<void>;
}

export interface ContextTools extends SpawnTools, StepTools, WaitTools {
  readonly chance: () => number;
  readonly kin: Kin;
}

/** What a handler leaves behind for the end of its execution. */
export interface Leavings {
  /** In the order of registration. */
  readonly cleanups: Cleanup[];
  readonly view: Record<string, unknown>;
  readonly emit: RunContext['emit'];
  /** Called by `continueAs` with JSON text. */
  continueWith(input: string | undefined): void;
}

/**
 * What the handler of one execution gets, or one of its branches.
 * @param prefix of every key, empty or ending in `/`
 */
export const createContext = (scope: Scope, tools: ContextTools, leavings: Leavings, prefix = ''): RunContext => {
  const { run } = scope;
  const makeContext: MakeContext = (branch) => createContext(branchScope(scope, branch.signal), tools, leavings, branch.prefix);
  const whole = (key: string): string => `${prefix}${key}`;
  return {
    run: { id: run.id, generation: run.generation, startedAt: run.startedAt, parent: run.parent, labels: run.labels },
    signal: scope.signal,
    step: (key, options, effect) => scope.operation(() => performStep(scope, tools, { key: whole(key), options, effect })),
    spawn: (key, spec, options = {}) => scope.operation(() => performSpawn(scope, tools, { key: whole(key), spec, options })),
    sleep: (key, ms) => scope.operation(() => performSleep(scope, tools, { key: whole(key), length: { ms } })),
    sleepUntil: (key, at) => scope.operation(() => performSleep(scope, tools, { key: whole(key), length: { at } })),
    now: async (key) => (await scope.operation(() => performValue(scope, whole(key), tools.clock))) as EpochMs,
    random: async (key) => (await scope.operation(() => performValue(scope, whole(key), tools.chance))) as number,
    uuid: async (key) => (await scope.operation(() => performValue(scope, whole(key), () => uuidOf(tools.chance)))) as string,
    waitFor: (key, options) => scope.operation(() => performWait(scope, tools, { key: whole(key), options })),
    child: (key, handler, input, options = {}) =>
      scope.operation(() => performChild(scope, tools.kin, { key: whole(key), handler, input, options })),
    map: (key, items, options, fn) => scope.operation(() => performMap(scope, makeContext, { key: whole(key), items, options, fn })),
    race: (key, branches) => scope.operation(() => performRace(scope, makeContext, { key: whole(key), branches })),
    record: (key, kind, data) => scope.operation(() => performRecord(scope, whole(key), { kind, data })),
    budget: createRunBudget(scope, prefix),
    emit: leavings.emit,
    version: (changeId, min, max) => scope.operation(() => performVersion(scope, { changeId, min, max })),
    continueAs: async (input) => {
      scope.assertMayPerform();
      leavings.continueWith(encodePayload(scope.store.blobs, input, `The input of run ${run.id}`));
      return never();
    },
    set: (name, value) => {
      scope.assertOpen();
      leavings.view[name] = value;
      const text = encodeJson(leavings.view, `The view of run ${run.id}`) ?? '{}';
      void scope.operation(() => scope.store.write((transaction) => showView(transaction, run.id, text)));
    },
    cleanup: (key, effect) => {
      scope.enter(whole(key), 'cleanup');
      leavings.cleanups.push({ key: whole(key), effect });
    },
  };
};
