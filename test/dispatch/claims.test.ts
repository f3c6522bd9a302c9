import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { epochMs } from '../../src/core/ids.ts';
import { heldByText, openClaims, type ClaimHolder, type ClaimResult, type Claims } from '../../src/dispatch/index.ts';
import { isAlive, selfIdentity, type ProcessIdentity } from '../../src/process/index.ts';

let root = '';
const open: Claims[] = [];
const children: ChildProcess[] = [];

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'gyre-claims-'));
});
afterEach(async () => {
  for (const claims of open.splice(0)) claims.close();
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
  await rm(root, { recursive: true, force: true });
});

let now = 1_000_000;
const gone = new Set<number>();
const fake = (pid: number): ProcessIdentity => ({ pid, startTime: '1', bootId: 'b' });
const holder = (pid: number, more: Partial<ClaimHolder> = {}): ClaimHolder => ({
  process: fake(pid),
  stateHome: `/home/${pid}`,
  run: `r${pid}`,
  ...more,
});
/** Claims with a clock and a table of processes of the test's own. */
const claimsHere = async (): Promise<Claims> => {
  const claims = await openClaims({ stateRoot: root, clock: () => epochMs(now), isAlive: (one) => !gone.has(one.pid) });
  open.push(claims);
  gone.clear();
  return claims;
};
const key = 'github:o/r#12';
const leaseMs = 60_000;
const tokenOf = (result: ClaimResult): number => (result.claimed === 'yes' ? result.token : 0);

class Claimant {
  readonly child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor(name: string) {
    this.child = spawn(process.execPath, [path.join(import.meta.dirname, 'claimant.mjs'), root, `/home/${name}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(this.child);
    this.#answers = createInterface({ input: this.child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  }

  async answer(): Promise<unknown> {
    const { value } = await this.#answers.next();
    return JSON.parse(String(value)) as unknown;
  }

  tell(order: object): void {
    this.child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  async ask(order: object): Promise<unknown> {
    this.tell(order);
    return this.answer();
  }
}

describe('claims between real processes', () => {
  it('DSP-01 two engines at the same moment, 20 times: 20 winners in all, and each loser can say who', async () => {
    const [a, b] = [new Claimant('a'), new Claimant('b')];
    // Both make the file at the same moment, too.
    await Promise.all([a.answer(), b.answer()]);
    let winners = 0;
    const losers: string[] = [];
    for (let round = 1; round <= 20; round += 1) {
      const at = Date.now() + 15;
      const order = (run: string) => ({ do: 'claim', key: `github:o/r#${round}`, run, at, leaseMs });
      const results = (await Promise.all([a.ask(order(`ra${round}`)), b.ask(order(`rb${round}`))])) as ClaimResult[];
      for (const result of results) {
        if (result.claimed === 'yes') winners += 1;
        else losers.push(heldByText(result.heldBy));
      }
    }
    expect(winners).toBe(20);
    expect(losers).toHaveLength(20);
    for (const text of losers) expect(text).toMatch(/^claimed by run r[ab]\d+ of process \d+ \(state home \/home\/[ab]\) since /);
  }, 30_000);

  it('DSP-09 a suspended holder keeps its claim long after its lease, and loses it only when it is dead', async () => {
    const a = new Claimant('a');
    await a.answer();
    const first = (await a.ask({ do: 'claim', key, run: 'r1', at: 0, leaseMs: 1 })) as ClaimResult;
    expect(first.claimed).toBe('yes');
    const mine = await openClaims({ stateRoot: root, clock: () => epochMs(Date.now() + 3_600_000), isAlive });
    open.push(mine);
    const me: ClaimHolder = { process: selfIdentity(), stateHome: '/home/me', run: 'r2' };
    a.child.kill('SIGSTOP');
    expect(mine.claim({ key, holder: me, leaseMs }).claimed).toBe('no');
    a.child.kill('SIGCONT');
    expect(await a.ask({ do: 'holds', key, token: tokenOf(first) })).toEqual({ holds: true });

    const dead = once(a.child, 'exit');
    a.child.kill('SIGKILL');
    await dead;
    const taken = mine.claim({ key, holder: me, leaseMs });
    expect(tokenOf(taken)).toBeGreaterThan(tokenOf(first));
    expect(mine.holds({ key, token: tokenOf(first) })).toBe(false);
  }, 30_000);
});

describe('a claim', () => {
  it('DSP-09 needs both to be taken over: the lease run out and the holder gone', async () => {
    const claims = await claimsHere();
    const first = claims.claim({ key, holder: holder(1), leaseMs });
    const other = { key, holder: holder(2), leaseMs };
    now += leaseMs + 1;
    expect(claims.claim(other)).toMatchObject({ claimed: 'no', heldBy: { run: 'r1', token: tokenOf(first) } });
    gone.add(1);
    now -= leaseMs;
    expect(claims.claim(other).claimed).toBe('no');
    now += leaseMs;
    expect(claims.claim(other).claimed).toBe('yes');
  });

  it('DSP-09 a worker that outlives its engine keeps the claim: never two live workers on one task', async () => {
    const claims = await claimsHere();
    const first = claims.claim({ key, holder: holder(1), leaseMs });
    expect(claims.addWorker({ key, token: tokenOf(first), worker: fake(10) })).toBe(true);
    gone.add(1);
    now += leaseMs + 1;
    expect(claims.claim({ key, holder: holder(2), leaseMs }).claimed).toBe('no');
    gone.add(10);
    const second = claims.claim({ key, holder: holder(2), leaseMs });
    expect(second.claimed).toBe('yes');
    // The new holder's claim does not carry the old one's workers.
    expect(claims.holderOf(key)?.workers).toEqual([]);
    expect(claims.addWorker({ key, token: tokenOf(first), worker: fake(11) })).toBe(false);
  });

  it('DSP-09 who lost it learns so by its token, and cannot give back what is not its own', async () => {
    const claims = await claimsHere();
    const token = tokenOf(claims.claim({ key, holder: holder(1), leaseMs }));
    gone.add(1);
    now += leaseMs + 1;
    const second = tokenOf(claims.claim({ key, holder: holder(2), leaseMs }));
    expect([claims.beat({ key, token, leaseMs }), claims.holds({ key, token }), claims.release({ key, token })]).toEqual([
      false,
      false,
      false,
    ]);
    expect(claims.holds({ key, token: second })).toBe(true);
  });

  it('DSP-01 is kept by beats and by asking again, and free after its release', async () => {
    const claims = await claimsHere();
    const token = tokenOf(claims.claim({ key, holder: holder(1), leaseMs }));
    now += leaseMs - 1;
    expect(claims.beat({ key, token, leaseMs })).toBe(true);
    expect(claims.holderOf(key)?.leaseUntil).toBe(now + leaseMs);
    expect(claims.claim({ key, holder: holder(1), leaseMs })).toEqual({ claimed: 'yes', token, leaseUntil: now + leaseMs });
    // The same process for another run is another holder.
    expect(claims.claim({ key, holder: holder(1, { run: 'r9' }), leaseMs }).claimed).toBe('no');
    expect(claims.release({ key, token })).toBe(true);
    expect(claims.list()).toEqual([]);
    expect(tokenOf(claims.claim({ key, holder: holder(2), leaseMs }))).toBeGreaterThan(token);
  });

  it('DPT-24 an engine that was started again takes the claim of its own run back at once, with a new token', async () => {
    const claims = await claimsHere();
    const token = tokenOf(claims.claim({ key, holder: holder(1), leaseMs }));
    const again = holder(2, { stateHome: '/home/1', run: 'r1' });
    expect(claims.claim({ key, holder: again, leaseMs }).claimed).toBe('no');
    gone.add(1);
    expect(tokenOf(claims.claim({ key, holder: again, leaseMs }))).toBe(token + 1);
  });

  it('P10 a damaged file, or one of a newer Gyre, is refused with what to do', async () => {
    await writeFile(path.join(root, 'claims.sqlite'), 'not a database, and long enough to be looked at as one '.repeat(40));
    await expect(claimsHere()).rejects.toMatchObject({ code: 'CLAIMS_FAILED', hint: expect.stringContaining('move it aside') });
    await rm(path.join(root, 'claims.sqlite'));
    const newer = new DatabaseSync(path.join(root, 'claims.sqlite'));
    newer.exec('PRAGMA user_version = 2');
    newer.close();
    await expect(claimsHere()).rejects.toThrow('it has format 2, and this Gyre knows formats up to 1');
  });
});
