import type { Queries } from './append.ts';
import type { JournalHealth, RunState } from './port.ts';
import { numberAt, textAt } from './rows.ts';

/** What a look at the journal alone says about its state. */
export const journalHealth = (queries: Queries): JournalHealth => {
  const runs: Record<RunState, number> = {
    pending: 0,
    running: 0,
    paused: 0,
    'needs-attention': 0,
    done: 0,
    failed: 0,
    cancelled: 0,
  };
  for (const row of queries.all('SELECT state, count(*) AS n FROM runs GROUP BY state')) {
    runs[textAt(row, 'state') as RunState] = numberAt(row, 'n');
  }
  const schema = queries.get("SELECT value FROM meta WHERE key = 'schema'");
  const last = queries.get('SELECT ifnull(max(seq), 0) AS seq FROM facts');
  return { schema: Number(schema?.['value'] ?? 0), facts: last === undefined ? 0 : numberAt(last, 'seq'), runs };
};
