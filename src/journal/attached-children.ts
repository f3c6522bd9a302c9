import type { Queries } from './append.ts';
import { numberAt, textAt } from './rows.ts';

/** Open runs that end with their parent. */
export const attachedChildren = (
  transaction: Pick<Queries, 'all'>,
  run: string,
): readonly { readonly id: string; readonly generation: number }[] =>
  transaction
    .all(
      "SELECT id, generation FROM runs WHERE parent = ? AND ended_at IS NULL AND detached = 0 AND on_parent_cancel = 'cancel' ORDER BY started_at, id",
      run,
    )
    .map((row) => ({ id: textAt(row, 'id'), generation: numberAt(row, 'generation') }));
