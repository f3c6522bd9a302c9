// Finds and ends everything that belongs to one started program, also what left its process group and its session.
//
// A process belongs to the tree when one of these holds, and to nothing else; it is never chosen by its name:
//   1. it carries the exact marker in its environment (inherited by every descendant unless it takes care to drop it);
//   2. it is in the process group of the program;
//   3. it was seen as a descendant while its parents lived (`Lineage`) and is still the same process by start time;
//   4. its parent belongs to the tree (this also finds the shims and trees of an engine that ran inside the tree).
// Not covered: a process that between two looks of the lineage (one second; up to thirty on a machine with more work than processors) dropped
// the marker, moved to a session of its own and lost its parent; one that runs as another user; one that was started for the tree by a
// service outside (a container daemon, systemd, cron). Catching the first would take PR_SET_CHILD_SUBREAPER or a cgroup, which Node does not offer.
import { setTimeout as sleep } from 'node:timers/promises';

import { hasProc, readStat, sameProcess, signalProcess } from './identity.ts';
import type { ProcessIdentity } from './port.ts';
import { carriedOf, childrenOf, readTable } from './process-table.ts';
import type { ProcessRow } from './process-table.ts';

export interface TreeQuery {
  /** The program's own process, whose number is that of its group. */
  readonly leader: ProcessIdentity | undefined;
  /** Descendants seen earlier. */
  readonly known: readonly ProcessIdentity[];
  /** Never part of the tree, nor what hangs below it: the process that asks. */
  readonly self: number;
}

/** Members of the leader's group, unless its number has been given to another process since. */
const inGroup = (row: ProcessRow, leader: ProcessIdentity, rows: readonly ProcessRow[]): boolean =>
  row.group === leader.pid && !rows.some(({ identity }) => identity.pid === leader.pid && !sameProcess(identity, leader));

/** Those rows that belong to the tree, by the four rules above. Pure. */
export const treeOf = (rows: readonly ProcessRow[], query: TreeQuery): readonly ProcessRow[] => {
  const { leader, known, self } = query;
  const others = rows.filter((row) => row.identity.pid !== self);
  const tree = new Map<number, ProcessRow>();
  for (const row of others) {
    const belongs =
      row.marked || (leader !== undefined && inGroup(row, leader, rows)) || known.some((one) => sameProcess(one, row.identity));
    if (belongs) tree.set(row.identity.pid, row);
  }
  for (let before = -1; before !== tree.size;) {
    before = tree.size;
    for (const row of others) if (tree.has(row.parent)) tree.set(row.identity.pid, row);
  }
  return [...tree.values()];
};

export interface TreeEnd {
  /** Every process that had to be killed. */
  readonly killed: readonly ProcessIdentity[];
  /** Still there at the bound: not ours to signal, or stuck in the kernel. */
  readonly left: readonly ProcessIdentity[];
}

const pauseMs = 15;

/**
 * Kills the tree and looks again until nothing is left, at most `boundMs`. Members are first stopped, until a look finds no new one:
 * a stopped process cannot fork, nor can its child lose its parent, between the look and the kill.
 */
export const endTree = async (query: TreeQuery & { readonly marker: string; readonly boundMs: number }): Promise<TreeEnd> => {
  const seen = new Map<string, ProcessIdentity>();
  const until = performance.now() + query.boundMs;
  for (;;) {
    const tree = treeOf(readTable(query.marker), { ...query, known: [...query.known, ...seen.values()] }).map((row) => row.identity);
    if (tree.length === 0) return { killed: [...seen.values()], left: [] };
    const fresh = tree.filter((one) => !seen.has(keyOf(one)));
    for (const one of fresh) {
      seen.set(keyOf(one), one);
      signalProcess(one, 'SIGSTOP');
    }
    if (fresh.length > 0 && performance.now() < until) continue;
    for (const one of tree) signalProcess(one, 'SIGKILL');
    if (performance.now() >= until) return { killed: [...seen.values()], left: tree };
    await sleep(pauseMs);
  }
};

const sweepBoundMs = 10_000;

/** Looks at all processes take at most this part of the time of the one that looks. */
const lookPart = 1 / 10;
let asked = new Map<string, Promise<number>>();
let carried: Promise<ReadonlySet<string>> | undefined;
/** No look before this moment of the monotonic clock. */
let restUntil = 0;

/** One look for everybody who asks until it begins. */
const lookOnce = async (): Promise<ReadonlySet<string>> => {
  await sleep(Math.max(0, restUntil - performance.now()));
  const markers = [...asked.keys()];
  asked = new Map();
  carried = undefined;
  const begun = performance.now();
  try {
    return carriedOf(markers);
  } finally {
    const ended = performance.now();
    restUntil = ended + (ended - begun) / lookPart;
  }
};

const sweepOf = async (marker: string, look: Promise<ReadonlySet<string>>): Promise<number> => {
  if (!(await look).has(marker)) return 0;
  return (await endTree({ leader: undefined, known: [], self: process.pid, marker, boundMs: sweepBoundMs })).killed.length;
};

/**
 * Ends everything that carries a marker, wherever it hangs. Where many are asked for, one look at the processes of the machine serves all.
 * @returns how many processes were killed
 */
export const sweepMarked = (marker: string): Promise<number> => {
  const earlier = asked.get(marker);
  if (earlier !== undefined) return earlier;
  carried ??= lookOnce();
  const swept = sweepOf(marker, carried);
  asked.set(marker, swept);
  return swept;
};

const keyOf = (identity: ProcessIdentity): string => `${identity.pid}/${identity.startTime}`;

const lineageSize = 4_096;

/** Remembers the descendants of a program while their parents still live (rule 3). `look` is cheap and meant for every second. */
export class Lineage {
  readonly #root: ProcessIdentity;
  #members: readonly ProcessIdentity[] = [];

  constructor(root: ProcessIdentity) {
    this.#root = root;
  }

  get members(): readonly ProcessIdentity[] {
    return this.#members;
  }

  look(): void {
    // Without /proc nothing tells the children of a process.
    if (!hasProc) return;
    const { bootId } = this.#root;
    const found = new Map<number, ProcessIdentity>();
    /** Children are new to us: whoever has the number now is meant. */
    const queue: (ProcessIdentity | number)[] = [this.#root, ...this.#members];
    for (let one = queue.shift(); one !== undefined && found.size < lineageSize; one = queue.shift()) {
      const pid = typeof one === 'number' ? one : one.pid;
      const stat = found.has(pid) ? undefined : readStat(pid);
      if (stat === undefined || (typeof one !== 'number' && one.startTime !== stat.startTime)) continue;
      found.set(pid, { pid, startTime: stat.startTime, bootId });
      queue.push(...childrenOf(stat));
    }
    found.delete(this.#root.pid);
    this.#members = [...found.values()];
  }
}
