import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { Defect } from '../core/fault.ts';
import { epochMs } from '../core/ids.ts';
import { readHead } from './append.ts';
import { type Blobs, createBlobs } from './blobs.ts';
import { canonicalJson, type ChainLink, factLine, verifyChain } from './chain.ts';
import { type Gap, gapKind, isGap, readAcross } from './damage.ts';
import { openForReading } from './open-reading.ts';
import { readOwner } from './owner.ts';
import { resolvePayload, resolveRun } from './payload.ts';
import type { Fact, JournalReader } from './port.ts';
import { isAlive } from '../process/index.ts';
import { journalHealth } from './health.ts';
import { findRegisterEntry, listRegister } from './registers.ts';
import { factOfRow, firstRunColumns, linkOfRow, type Row, runColumns, runOfRow } from './rows.ts';
import { listSignals } from './signal-records.ts';
import { runQuery } from './run-filter.ts';
import { assertKnownSchema, journalFile, schemaVersion } from './schema.ts';
import { storageFault, storageTrouble } from './storage-error.ts';
import { readStream, streamNews } from './streams.ts';

/** Most facts of one answer; ask again with `afterSeq` for more. */
const factsMax = 10_000;
const pageFacts = 1_000;

type FactFilter = NonNullable<Parameters<JournalReader['facts']>[0]>;

const dataOfGap = ({ seq, until, why }: Gap) => ({ from: seq, until, why });

/** A gap as an entry among the facts: no hash, no time. */
const linkOfGap = (gap: Gap): ChainLink & { readonly hash: string } => ({
  seq: gap.seq,
  at: 0,
  kind: gapKind,
  run: '',
  data: canonicalJson(dataOfGap(gap)),
  prev: '',
  hash: '',
});

const sentenceOfGap = ({ seq, until, why }: Gap): string =>
  `${seq === until ? `Fact ${seq}` : `The facts from ${seq} to ${until}`} cannot be read (${why}).`;

/**
 * Reads a journal of any schema this release knows, without changing it.
 * @param tools `close` ends what was opened for it
 */
export const createReader = (
  db: DatabaseSync,
  { file, blobs, close }: { readonly file: string; readonly blobs: Blobs; readonly close: () => void },
): JournalReader => {
  const isFirstSchema = schemaVersion(db) === 1;
  const columns = isFirstSchema ? firstRunColumns : runColumns;
  // There are as many texts as forms of filters, which is a few dozen.
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const all = (sql: string, values: readonly SQLInputValue[]): readonly Row[] => prepared(sql).all(...values);
  const queries = {
    get: (sql: string, ...values: readonly SQLInputValue[]) => prepared(sql).get(...values),
    all: (sql: string, ...values: readonly SQLInputValue[]) => all(sql, values),
  };
  /** Every call goes through here, so that a damaged file gives one clear fault. */
  const reading = <T>(body: () => T): T => {
    try {
      return body();
    } catch (error) {
      throw storageFault(error, file);
    }
  };
  const factRows = ({ run, afterSeq = 0, limit = factsMax }: FactFilter): readonly Row[] =>
    run === undefined
      ? all('SELECT * FROM facts WHERE seq > ? ORDER BY seq LIMIT ?', [afterSeq, Math.min(limit, factsMax)])
      : all('SELECT * FROM facts WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?', [run, afterSeq, Math.min(limit, factsMax)]);

  // Page by page: memory stays bounded, and no statement is left open when the taker stops early.
  const across = <T extends { readonly seq: number }>(take: (row: Row) => T, { run, afterSeq = 0, limit = pageFacts }: FactFilter) =>
    readAcross(
      {
        page: (after, many) => factRows({ ...(run === undefined ? {} : { run }), afterSeq: after, limit: many }).map(take),
        lastSeq: () => readHead(queries).seq,
        // Text that is no JSON, and a number where text was expected, come from the file as well.
        isDamage: (error) => storageTrouble(error) === 'corrupt' || error instanceof Defect || error instanceof SyntaxError,
      },
      { afterSeq, pageFacts: Math.min(limit, pageFacts) },
    );

  const listFacts = (filter: FactFilter): readonly Fact[] => {
    const limit = Math.min(filter.limit ?? factsMax, factsMax);
    const facts: Fact[] = [];
    if (limit <= 0) return facts;
    for (const item of across(factOfRow, { ...filter, limit })) {
      facts.push(isGap(item) ? { ...linkOfGap(item), at: epochMs(0), data: dataOfGap(item) } : item);
      if (facts.length === limit) break;
    }
    return facts;
  };

  function* exportLines(): Generator<string> {
    const take = (row: Row): ChainLink & { readonly hash: string } => {
      const link = linkOfRow(row);
      JSON.parse(link.data);
      return link;
    };
    try {
      for (const item of across(take, {})) {
        const link = isGap(item) ? linkOfGap(item) : item;
        yield factLine(link, link.hash);
      }
    } catch (error) {
      throw storageFault(error, file);
    }
  }

  const verify = (): ReturnType<JournalReader['verify']> => {
    const gaps: Gap[] = [];
    function* links(): Generator<ChainLink & { readonly hash: string }> {
      for (const item of across(linkOfRow, {})) {
        if (isGap(item)) {
          gaps.push(item);
          return;
        }
        yield item;
      }
    }
    const report = verifyChain(links(), readHead(queries));
    const [gap] = gaps;
    return gap === undefined || (!report.ok && report.seq < gap.seq) ? report : { ok: false, seq: gap.seq, why: sentenceOfGap(gap) };
  };

  return {
    runs: (filter = {}) =>
      reading(() => {
        const { sql, values } = runQuery(filter);
        return all(`SELECT ${columns} FROM runs ${sql}`, values).map((row) => resolveRun(blobs, runOfRow(row)));
      }),
    count: (filter = {}) =>
      reading(() => {
        const { sql, values } = runQuery(filter);
        return Number(all(`SELECT count(*) AS n FROM (SELECT 1 FROM runs ${sql})`, values)[0]?.['n'] ?? 0);
      }),
    run: (id) =>
      reading(() => {
        const row = queries.get(`SELECT ${columns} FROM runs WHERE id = ?`, id);
        return row === undefined ? undefined : resolveRun(blobs, runOfRow(row));
      }),
    facts: (filter = {}) => reading(() => listFacts(filter)),
    owner: () =>
      reading(() => {
        const owner = readOwner(queries);
        return owner === undefined ? undefined : { identity: owner.identity, epoch: owner.epoch, alive: isAlive(owner.identity) };
      }),
    verify: () =>
      reading(() => {
        // One view of the file for the facts and the end of their chain, while an engine goes on writing.
        db.exec('BEGIN');
        try {
          return verify();
        } finally {
          if (db.isTransaction) db.exec('ROLLBACK');
        }
      }),
    exportLines: () => exportLines(),
    registerEntry: (register, key) => reading(() => (isFirstSchema ? undefined : findRegisterEntry(queries, register, key))),
    register: (register, filter) => reading(() => (isFirstSchema ? [] : listRegister(queries, register, filter))),
    stream: (run, stream, afterSeq = 0) => reading(() => (isFirstSchema ? [] : readStream(queries, { run, stream, afterSeq }))),
    streamNews: (afterSeq) => reading(() => (isFirstSchema ? { newest: afterSeq ?? 0, runs: [] } : streamNews(queries, afterSeq))),
    signals: (run) =>
      reading(() =>
        isFirstSchema ? [] : listSignals(queries, run).map((signal) => ({ ...signal, payload: resolvePayload(blobs, signal.payload) })),
      ),
    health: () => reading(() => journalHealth(queries)),
    [Symbol.dispose]: close,
  };
};

/**
 * Opens the journal of a state home for reading; works beside a running engine.
 * @returns undefined when there is no journal yet
 * @throws Fault JOURNAL_TOO_NEW, JOURNAL_CORRUPT, STORAGE_FAILED, STORAGE_LOCKED
 */
export const openReader = (stateHome: string): JournalReader | undefined => {
  const file = journalFile(stateHome);
  if (!existsSync(file)) return undefined;
  try {
    const opened = openForReading(file);
    try {
      assertKnownSchema(opened.version, file);
    } catch (error) {
      opened.close();
      throw error;
    }
    if (opened.version > 0) return createReader(opened.db, { file, blobs: createBlobs(stateHome), close: () => opened.close() });
    opened.close();
    return undefined;
  } catch (error) {
    throw storageFault(error, file);
  }
};
