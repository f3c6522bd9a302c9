// Branches of a handler (`map`, `race`): the same run and context, keys behind a prefix, and a signal that can abort earlier.
import { CancelledError } from './cancelled-error.ts';
import type { RunContext } from './port.ts';
import type { Scope } from './scope.ts';
import { endWaits } from './wait-records.ts';

/** Makes the context of a branch. */
export type MakeContext = (branch: { readonly prefix: string; readonly signal: AbortSignal }) => RunContext;

export interface Branches {
  readonly signal: AbortSignal;
  context(name: string): RunContext;
  /** Aborts every branch that has not ended. */
  giveUp(reason: string): void;
}

/** @param prefix of all its keys, without the slash */
export const createBranches = (scope: Scope, makeContext: MakeContext, prefix: string): Branches => {
  const over = new AbortController();
  const signal = AbortSignal.any([scope.signal, over.signal]);
  return {
    signal,
    context: (name) => makeContext({ prefix: `${prefix}/${name}/`, signal }),
    giveUp: (reason) => over.abort(new CancelledError(reason)),
  };
};

/** Takes away the rows of waits that belong to branches which were given up. */
export const forgetWaits = (scope: Scope, prefix: string) => (transaction: Parameters<typeof endWaits>[0]) =>
  endWaits(transaction, scope.run.id, `${prefix}/`);
