// A look at all processes of the machine: who is whose child, in which group, and who carries a marker in its environment.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

import { hasProc, readProc, readStat, selfIdentity } from './identity.ts';
import type { ProcStat } from './identity.ts';
import type { ProcessIdentity } from './port.ts';

export interface ProcessRow {
  readonly identity: ProcessIdentity;
  readonly parent: number;
  readonly group: number;
  readonly marked: boolean;
}

/** The environment variable by which descendants are found. */
export const markName = 'GYRE_MARK';

/**
 * True when one whole entry of an environment block (entries end with NUL) is the marker: `GYRE_MARK=a` is neither found in
 * `GYRE_MARK=ab` nor in `X=GYRE_MARK=a`.
 */
export const hasMark = (environ: Buffer, marker: string): boolean => {
  const entry = Buffer.from(`${markName}=${marker}`);
  for (let at = environ.indexOf(entry); at >= 0; at = environ.indexOf(entry, at + 1)) {
    const end = at + entry.length;
    if ((at === 0 || environ[at - 1] === 0) && (end === environ.length || environ[end] === 0)) return true;
  }
  return false;
};

/** True when an environment block has an entry of this name. */
export const hasName = (environ: Buffer, name: string): boolean => environ.indexOf(`${name}=`) === 0 || environ.includes(`\0${name}=`);

const nothing = Buffer.alloc(0);

/** The environment block that a process was started with; empty where it may not be seen. */
export const environOf = (pid: number): Buffer => {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    return nothing;
  }
};

// Kernel threads are children of number 2: no environment, not ours, and on large machines most of the table.
const kernelThreads = 2;

/** Whether a process counts: dead ones that wait to be reaped do not. */
export const isLive = ({ state, parent }: ProcStat): boolean => state !== 'Z' && state !== 'X' && parent !== kernelThreads;

export const rowOf = (stat: ProcStat, marked: boolean): ProcessRow => ({
  identity: { pid: stat.pid, startTime: stat.startTime, bootId: selfIdentity().bootId },
  parent: stat.parent,
  group: stat.group,
  marked,
});

const procTable = (marker: string): ProcessRow[] =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? readStat(pid) : undefined;
    return stat === undefined || !isLive(stat) ? [] : [rowOf(stat, hasMark(environOf(pid), marker))];
  });

/**
 * One line of `ps eww -o pid=,ppid=,pgid=,state=,lstart=,command=`, where the environment follows the command. The entries are parted by
 * blanks only, so a program that was given the text `GYRE_MARK=<marker>` as an argument counts as marked: weaker than /proc, where
 * entries are exact. The marker holds no blank (the host sees to it).
 */
export const parsePsLine = (line: string, options: { readonly marker: string; readonly bootId: string }): ProcessRow | undefined => {
  const parts = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d{4})\s(.*)$/s.exec(line);
  const [, pid, parent, group, state, startTime, command] = parts ?? [];
  if (pid === undefined || startTime === undefined || command === undefined || state?.startsWith('Z') === true) return undefined;
  const identity = { pid: Number(pid), startTime: startTime.trim(), bootId: options.bootId };
  return { identity, parent: Number(parent), group: Number(group), marked: command.split(' ').includes(`${markName}=${options.marker}`) };
};

const psText = (): string => {
  const args = ['axeww', '-o', 'pid=,ppid=,pgid=,state=,lstart=,command='];
  return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 10_000, maxBuffer: 256 << 20 });
};

const psRows = (text: string, marker: string): ProcessRow[] => {
  const { bootId } = selfIdentity();
  return text.split('\n').flatMap((line) => parsePsLine(line, { marker, bootId }) ?? []);
};

/** The values that an environment block gives the marker's name. */
const marksIn = (environ: Buffer): readonly string[] =>
  environ.includes(`${markName}=`)
    ? environ
        .toString('utf8')
        .split('\0')
        .flatMap((entry) => (entry.startsWith(`${markName}=`) ? entry.slice(markName.length + 1) : []))
    : [];

/** Which of these markers some live process carries, this one aside: one look at all processes for any number of markers. */
export const carriedOf = (markers: readonly string[]): ReadonlySet<string> => {
  if (!hasProc) {
    const text = psText();
    return new Set(markers.filter((marker) => psRows(text, marker).some((row) => row.marked && row.identity.pid !== process.pid)));
  }
  const wanted = new Set(markers);
  // A dead process has no environment any more, nor has a thread of the kernel.
  const pids = readdirSync('/proc').filter((name) => Number.isInteger(Number(name)) && Number(name) !== process.pid);
  return new Set(pids.flatMap((pid) => marksIn(environOf(Number(pid)))).filter((mark) => wanted.has(mark)));
};

/** All live processes that may be seen; dead ones that wait to be reaped are left out. */
export const readTable = (marker: string): readonly ProcessRow[] => (hasProc ? procTable(marker) : psRows(psText(), marker));

/**
 * Direct children of one process, threads' children included. Cheap (reads only this process), so that it can be asked every second.
 * Empty where the kernel does not offer the file.
 */
export const childrenOf = ({ pid, threads }: Pick<ProcStat, 'pid' | 'threads'>): readonly number[] => {
  try {
    const tasks = threads === 1 ? [String(pid)] : readdirSync(`/proc/${pid}/task`);
    return tasks.flatMap((task) => {
      const text = readProc(`/proc/${pid}/task/${task}/children`) ?? '';
      return text === '' ? [] : text.split(' ').filter(Boolean).map(Number);
    });
  } catch {
    return [];
  }
};
