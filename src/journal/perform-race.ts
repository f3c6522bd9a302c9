// The first branch to end, well or not, wins. It is recorded before the others are told, so that a replay gives the same winner.
import { Defect } from '../core/fault.ts';
import { createBranches, forgetWaits, type MakeContext } from './branch.ts';
import { CancelledError } from './cancelled-error.ts';
import type { RunContext } from './port.ts';
import { freshStep, replayed, type Scope } from './scope.ts';

interface RaceRequest<T> {
  readonly key: string;
  readonly branches: Readonly<Record<string, (scoped: RunContext) => Promise<T>>>;
}

interface Winner<T> {
  readonly winner: string;
  readonly value: T;
}

type First<T> = { readonly won: Winner<T> } | { readonly lost: unknown };

export const performRace = async <T>(scope: Scope, makeContext: MakeContext, request: RaceRequest<T>): Promise<Winner<T>> => {
  const { key } = request;
  const known = replayed(scope, scope.enter(key, 'race'));
  if (known !== undefined) return known.value as Winner<T>;
  const names = Object.entries(request.branches);
  if (names.length === 0) throw new Defect(`The race ${JSON.stringify(key)} has no branch.`);
  const branches = createBranches(scope, makeContext, request.key);
  const runOne = async (winner: string, branch: (scoped: RunContext) => Promise<T>): Promise<First<T>> => {
    try {
      return { won: { winner, value: await branch(branches.context(winner)) } };
    } catch (error) {
      return { lost: error };
    }
  };
  const running = names.map(async ([name, branch]) => runOne(name, branch));
  const first = await Promise.race(running);
  const step = freshStep(key, 'race', scope.run.generation);
  const also = forgetWaits(scope, key);
  try {
    if ('won' in first) return (await scope.perform(() => scope.complete(step, first.won, { also }))) as Winner<T>;
    const isCancel = scope.stopReason() !== undefined || scope.signal.aborted || first.lost instanceof CancelledError;
    if (isCancel || first.lost instanceof Defect) throw first.lost;
    return await scope.perform(() => scope.fail(step, first.lost, { also }));
  } finally {
    branches.giveUp(`Another branch of the race ${key} was first.`);
  }
};
