// The signals of the engine itself (run ''): its own code takes them, and no wait of a run does.
import { epochMs } from '../core/ids.ts';
import type { Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import { decodeJson } from './json.ts';
import type { Engine } from './port.ts';
import { numberAt, textAt, textOrNone } from './rows.ts';

/** Most signals taken at once; the rest is there for the next call. */
const takeMax = 1_000;

/** What stands in `taken_by_key` once the engine has taken a signal of its own. */
const takenByEngine = '';

type TakenSignals = Awaited<ReturnType<Engine['takeSignals']>>;

/**
 * The work of one write. The fact `signal.taken` keeps what was taken. A row with a dedupe key stays, so that a repeated signal is known;
 * purging takes old ones away.
 */
export const takeEngineSignals = (transaction: Transaction, name: string): TakenSignals =>
  transaction
    .all("SELECT * FROM signals WHERE run = '' AND name = ? AND taken_by_key IS NULL ORDER BY seq LIMIT ?", name, takeMax)
    .map((row) => {
      const seq = numberAt(row, 'seq');
      const taken = { payload: decodeJson(textOrNone(row, 'payload')), by: textAt(row, 'by'), at: epochMs(numberAt(row, 'at')) };
      if (row['dedupe'] === null) transaction.run('DELETE FROM signals WHERE seq = ?', seq);
      else transaction.run('UPDATE signals SET taken_by_key = ? WHERE seq = ?', takenByEngine, seq);
      transaction.fact({ kind: 'signal.taken', run: '', data: canonicalJson({ signal: seq, name, ...taken }) });
      return taken;
    });
