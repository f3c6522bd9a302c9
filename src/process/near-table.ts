// The processes that can belong to the tree of one program, without a look at all processes of the machine: when a thousand shims see their
// programs end, each would read what the other thousand run.
//
// A descendant of the program hangs below the program, below a descendant that was seen before, or, when it has lost its parents, below a
// process that takes in orphans: process 1, or an ancestor of the shim that asked for it (PR_SET_CHILD_SUBREAPER). So these are
// walked. What takes in orphans had children before: those that are older than the program are no descendants of it, and other shims are not
// either, unless they carry its marker.
import { existsSync } from 'node:fs';

import { hasProc, readStat } from './identity.ts';
import type { ProcStat } from './identity.ts';
import type { ProcessIdentity } from './port.ts';
import { childrenOf, environOf, hasName, hasMark, isLive, rowOf } from './process-table.ts';
import type { ProcessRow } from './process-table.ts';
import { launchName } from './shim-env.ts';

const firstProcess = 1;
/** Where the kernel was built to tell the children of a process (CONFIG_PROC_CHILDREN). */
const tellsChildren = hasProc && existsSync(`/proc/self/task/${process.pid}/children`);
/** Reading the list of children misses a living one now and then while others end (proc_tid_children(5)): it is read again. */
const looks = 2;

const ancestorsOf = (pid: number): readonly ProcStat[] | undefined => {
  const chain: ProcStat[] = [];
  for (let at = pid; at !== 0;) {
    const stat = readStat(at);
    // Hidden from this user, or gone since its child was looked at.
    if (stat === undefined) return undefined;
    chain.push(stat);
    at = stat.parent;
  }
  if (chain.some((stat) => stat.pid === firstProcess)) return chain;
  const first = readStat(firstProcess);
  return first === undefined ? undefined : [...chain, first];
};

/**
 * Rows of every process that can belong to the tree of a program; more than belong to it.
 * @param query.self the process that asks, which started the program and takes in no orphans
 * @returns `undefined` where walking is not possible: then the whole table tells
 */
export const readNear = (query: {
  readonly marker: string;
  readonly leader: ProcessIdentity;
  readonly known: readonly ProcessIdentity[];
  readonly self: number;
  /** An ancestor that takes in no orphans: it may have a thousand children, and none has to be looked at. */
  readonly aside?: ProcessIdentity | undefined;
}): readonly ProcessRow[] | undefined => {
  const { marker, leader, known, self, aside } = query;
  const ancestors = tellsChildren ? ancestorsOf(self) : undefined;
  if (ancestors === undefined) return undefined;
  const rows = new Map<number, ProcessRow>();
  const seen = new Set(ancestors.map(({ pid }) => pid));
  const queue: number[] = [];

  /** @param oldest of an orphan: no process that was there before is one */
  const visit = (pid: number, oldest?: number): void => {
    if (seen.has(pid)) return;
    seen.add(pid);
    const stat = readStat(pid);
    if (stat === undefined || !isLive(stat) || (oldest !== undefined && Number(stat.startTime) < oldest)) return;
    const environ = environOf(pid);
    const marked = hasMark(environ, marker);
    if (oldest !== undefined && !marked && hasName(environ, launchName)) return;
    rows.set(pid, rowOf(stat, marked));
    queue.push(...childrenOf(stat));
  };

  const descend = (): void => {
    for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) visit(pid);
  };
  for (const { pid } of [leader, ...known]) visit(pid);
  descend();
  const since = Number(leader.startTime);
  // The process that asks starts nothing but the program.
  const takers = ancestors.filter(({ pid, startTime }) => pid !== self && (pid !== aside?.pid || startTime !== aside.startTime));
  for (let look = 0; look < looks; look += 1) for (const taker of takers) for (const child of childrenOf(taker)) visit(child, since);
  descend();
  return [...rows.values()];
};
