import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { assert, Fault } from '../../core/fault.ts';
import { epochMs } from '../../core/ids.ts';
import type { ProcessIdentity } from '../../process/index.ts';
import { mayTake } from './may-take.ts';
import type { ClaimHolder, ClaimResult, ClaimRow, Claims, ClaimsOptions } from './port.ts';

const schema = `
CREATE TABLE IF NOT EXISTS claims (
  key         TEXT PRIMARY KEY,
  token       INTEGER NOT NULL,
  pid         INTEGER NOT NULL,
  start_time  TEXT NOT NULL,
  boot_id     TEXT NOT NULL,
  state_home  TEXT NOT NULL,
  run         TEXT NOT NULL,
  claimed_at  INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  workers     TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS last_token (id INTEGER PRIMARY KEY CHECK (id = 1), token INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO last_token VALUES (1, 0);
PRAGMA user_version = 1;
`;
const schemaVersion = 1;

/** How long a statement waits for another process; each holds the file for one short transaction. */
const busyMs = 5_000;
/** Turning a new file into WAL is refused at once while another process does the same; so opening is tried again. */
const openTries = 50;
const openDelayMs = 20;
/** Most workers named of one claim; the oldest give way. */
const workersMax = 64;
const keyLettersMax = 1_000;

const refused = (file: string, cause: unknown): Fault =>
  new Fault('CLAIMS_FAILED', `The claims in ${file} cannot be used (${cause instanceof Error ? cause.message : 'no reason was given'}).`, {
    hint: 'Check the disk and the permissions of the folder. If the file is damaged, stop every Gyre of this user and move it aside.',
    data: { file },
    cause,
  });

type Row = Readonly<Record<string, SQLOutputValue>>;

const rowOf = (row: Row | undefined): ClaimRow | undefined =>
  row === undefined
    ? undefined
    : {
        key: String(row['key']),
        token: Number(row['token']),
        process: { pid: Number(row['pid']), startTime: String(row['start_time']), bootId: String(row['boot_id']) },
        stateHome: String(row['state_home']),
        run: String(row['run']),
        claimedAt: epochMs(Number(row['claimed_at'])),
        leaseUntil: epochMs(Number(row['lease_until'])),
        workers: JSON.parse(String(row['workers'])) as readonly ProcessIdentity[],
      };

const openFile = async (file: string): Promise<DatabaseSync> => {
  for (let tries = 1; ; tries += 1) {
    let db: DatabaseSync | undefined;
    try {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      db = new DatabaseSync(file);
      // FULL: a claim that was given is on the disk before anybody acts on it.
      db.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
      const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
      if (version > schemaVersion) throw new Error(`it has format ${version}, and this Gyre knows formats up to ${schemaVersion}`);
      if (version < schemaVersion) db.exec(`BEGIN IMMEDIATE; ${schema}; COMMIT`);
      return db;
    } catch (error) {
      db?.close();
      const isBusy = error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
      if (!isBusy || tries === openTries) throw refused(file, error);
      await delay(openDelayMs);
    }
  }
};

/**
 * Opens the claims that all engines of this user share, and makes the file where there is none.
 * @throws Fault CLAIMS_FAILED
 */
export const openClaims = async (options: ClaimsOptions): Promise<Claims> => {
  const { clock, isAlive } = options;
  const file = path.join(options.stateRoot, 'claims.sqlite');
  const db = await openFile(file);
  const sql = {
    row: db.prepare('SELECT * FROM claims WHERE key = ?'),
    all: db.prepare('SELECT * FROM claims ORDER BY key'),
    next: db.prepare('UPDATE last_token SET token = token + 1 RETURNING token'),
    put: db.prepare(
      `INSERT OR REPLACE INTO claims (key, token, pid, start_time, boot_id, state_home, run, claimed_at, lease_until, workers)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '[]')`,
    ),
    extend: db.prepare('UPDATE claims SET lease_until = ? WHERE key = ? AND token = ?'),
    workers: db.prepare('UPDATE claims SET workers = ? WHERE key = ? AND token = ?'),
    remove: db.prepare('DELETE FROM claims WHERE key = ? AND token = ?'),
  };

  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw refused(file, error);
    }
  };
  /** One transaction that has the write lock from its first read on, so that what was read still holds when it is acted on. */
  const exclusively = <T>(work: () => T): T =>
    guarded(() => {
      db.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        db.exec('COMMIT');
        return result;
      } finally {
        if (db.isTransaction) db.exec('ROLLBACK');
      }
    });
  const find = (key: string): ClaimRow | undefined => rowOf(sql.row.get(key));

  const take = (key: string, holder: ClaimHolder, leaseMs: number): ClaimResult => {
    const now = Math.floor(clock());
    const leaseUntil = epochMs(now + leaseMs);
    const token = Number(sql.next.get()?.['token']);
    const { pid, startTime, bootId } = holder.process;
    sql.put.run(key, token, pid, startTime, bootId, holder.stateHome, holder.run, now, leaseUntil);
    return { claimed: 'yes', token, leaseUntil };
  };

  return {
    claim: ({ key, holder, leaseMs }) => {
      assert(key !== '' && key.length <= keyLettersMax, `A key of ${key.length} letters cannot be claimed.`);
      return exclusively(() => {
        const now = epochMs(Math.floor(clock()));
        const row = find(key);
        const taking = mayTake(row, { holder, now, isAlive });
        if (row === undefined || taking === 'take') return take(key, holder, leaseMs);
        if (taking === 'refuse') return { claimed: 'no', heldBy: row };
        const leaseUntil = epochMs(now + leaseMs);
        sql.extend.run(leaseUntil, key, row.token);
        return { claimed: 'yes', token: row.token, leaseUntil };
      });
    },
    beat: ({ key, token, leaseMs }) => guarded(() => Number(sql.extend.run(Math.floor(clock()) + leaseMs, key, token).changes) > 0),
    holds: ({ key, token }) => guarded(() => find(key)?.token === token),
    addWorker: ({ key, token, worker }) =>
      exclusively(() => {
        const row = find(key);
        if (row?.token !== token) return false;
        sql.workers.run(JSON.stringify([...row.workers, worker].slice(-workersMax)), key, token);
        return true;
      }),
    release: ({ key, token }) => guarded(() => Number(sql.remove.run(key, token).changes) > 0),
    holderOf: (key) => guarded(() => find(key)),
    list: () => guarded(() => sql.all.all().flatMap((row) => rowOf(row) ?? [])),
    close: () => db.close(),
  };
};

/** Who holds a task, as the loser of a claim says it. */
export const heldByText = (row: ClaimRow): string =>
  `claimed by run ${row.run} of process ${row.process.pid} (state home ${row.stateHome}) since ${new Date(row.claimedAt).toISOString()}`;
