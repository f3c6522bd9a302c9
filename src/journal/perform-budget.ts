import { assertAmounts, remainingOf, reserveAmounts } from './budget-records.ts';
import type { Amounts, RunBudget } from './port.ts';
import { freshStep, replayed, type Scope } from './scope.ts';

/** The charge is written with its step, so that a replay does not charge again. */
const performCharge = async (scope: Scope, key: string, amounts: Amounts): Promise<void> => {
  assertAmounts(amounts);
  if (replayed(scope, scope.enter(key, 'budget')) !== undefined) return;
  await scope.perform(() => scope.complete(freshStep(key, 'budget', scope.run.generation), undefined, { charge: amounts }));
};

/** The answer depends on what stands in the journal, so it is taken in the transaction that records it. */
const performReserve = async (scope: Scope, key: string, amounts: Amounts): Promise<boolean> => {
  assertAmounts(amounts);
  const known = replayed(scope, scope.enter(key, 'budget'));
  if (known !== undefined) return known.value === true;
  return scope.perform(async () => {
    const step = freshStep(key, 'budget', scope.run.generation);
    const taken = await scope.decide(step, (transaction) => ({
      outcome: reserveAmounts(transaction, scope.run.id, amounts),
      details: { reserve: amounts },
    }));
    return taken?.value === true;
  });
};

export const createRunBudget = (scope: Scope, prefix: string): RunBudget => ({
  remaining: () => remainingOf(scope.store, scope.run.id),
  reserve: (key, amounts) => scope.operation(() => performReserve(scope, `${prefix}${key}`, amounts)),
  charge: (key, amounts) => scope.operation(() => performCharge(scope, `${prefix}${key}`, amounts)),
});
