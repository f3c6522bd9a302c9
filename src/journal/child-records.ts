import type { RunId } from '../core/ids.ts';
import type { Transaction } from './append.ts';
import type { ChildOptions, LoopHandler, RunRow } from './port.ts';
import { findRun, insertRun, openAgain } from './run-records.ts';
import { isOpen } from './run-state.ts';

interface Child {
  readonly id: RunId;
  readonly parent: RunRow;
  readonly key: string;
  readonly handler: LoopHandler;
  /** JSON text. */
  readonly input: string | undefined;
  readonly options: ChildOptions;
}

/** Makes the child pending: as a new run, or as the next generation of one that ended and is wanted again. */
export const ensureChild = (transaction: Transaction, child: Child): void => {
  const { id, parent, key, handler, input, options } = child;
  const existing = findRun(transaction, id);
  if (existing === undefined) {
    insertRun(transaction, {
      id,
      dedupeKey: id,
      handler,
      input,
      state: 'pending',
      priority: options.priority ?? parent.priority,
      labels: options.labels ?? {},
      budget: options.budget ?? {},
      parent: { run: parent.id, key, detached: options.detached === true, onParentCancel: options.onParentCancel ?? 'cancel' },
    });
  } else if (!isOpen(existing)) openAgain(transaction, existing, { version: handler.version, input, state: 'pending' });
};
