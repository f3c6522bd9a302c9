// Which process is meant. A pid alone is not enough: the system gives numbers out again, and after a reboot from the start.
//
// Where /proc is missing (macOS) the start time is the text that `ps` prints, exact to one second only: a number given out again
// within the same second would pass for the same process. A boot id is asked from the kernel there too.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';

import { assert } from '../core/fault.ts';
import type { ProcessIdentity } from './port.ts';

/** True where the kernel shows processes as files (Linux). */
export const hasProc = existsSync('/proc/self/stat');

/** What one line of /proc/<pid>/stat says (proc_pid_stat(5)). */
export interface ProcStat {
  readonly pid: number;
  /** One letter; `Z` and `X` are dead already and wait for their parent. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** Field 20. */
  readonly threads: number;
  /** Field 22, in clock ticks since boot. */
  readonly startTime: string;
}

/** @returns `undefined` for a text that is not a whole line. The name in brackets may itself hold blanks and brackets. */
export const parseStat = (text: string): ProcStat | undefined => {
  const nameEnd = text.lastIndexOf(')');
  const fields = text.slice(nameEnd + 2).split(' ');
  const [state, parent, group] = fields;
  const startTime = fields[19];
  if (nameEnd < 0 || state === undefined || startTime === undefined) return undefined;
  return { pid: Number.parseInt(text, 10), state, parent: Number(parent), group: Number(group), threads: Number(fields[17]), startTime };
};

/** Filled and emptied within one call. */
const room = Buffer.alloc(16 * 1_024);

/**
 * A whole file of /proc, `undefined` when it cannot be read. Four calls of the system where `readFileSync` makes more: thousands of shims
 * ask every second. The kernel gives a long list in pieces, and a list that was cut would end in the number of a stranger.
 */
export const readProc = (file: string): string | undefined => {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    let length = 0;
    for (let got = -1; got !== 0 && length < room.length; length += got) got = readSync(handle, room, length, room.length - length, null);
    return length < room.length ? room.toString('latin1', 0, length) : readFileSync(file, 'latin1');
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
};

/** @returns `undefined` when there is no such process. */
export const readStat = (pid: number): ProcStat | undefined => {
  const text = readProc(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
};

const printed = (program: string, args: readonly string[]): string => {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 5_000 }).trim();
  } catch {
    return '';
  }
};

let knownBootId: string | undefined;

const bootId = (): string => {
  knownBootId ??= hasProc
    ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    : printed('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']);
  return knownBootId;
};

/** State letter and start time of a process, also of a dead one that its parent has not yet taken leave of. */
const look = (pid: number): { readonly state: string; readonly startTime: string } | undefined => {
  if (hasProc) return readStat(pid);
  const line = /^(\S)\S*\s+(.+)$/.exec(printed('ps', ['-o', 'state=,lstart=', '-p', String(pid)]));
  const [, state, startTime] = line ?? [];
  return state === undefined || startTime === undefined ? undefined : { state, startTime: startTime.trim() };
};

/** @returns `undefined` when no process has this number now. */
export const identityOf = (pid: number): ProcessIdentity | undefined => {
  const found = look(pid);
  return found === undefined ? undefined : { pid, startTime: found.startTime, bootId: bootId() };
};

/** True while exactly this process runs (or is stopped). A dead one that is not yet reaped does not count. */
export const isAlive = (identity: ProcessIdentity): boolean => {
  if (identity.bootId !== bootId()) return false;
  const found = look(identity.pid);
  return found !== undefined && found.startTime === identity.startTime && found.state !== 'Z' && found.state !== 'X';
};

let knownSelf: ProcessIdentity | undefined;

/** The identity of the process that calls. */
export const selfIdentity = (): ProcessIdentity => {
  knownSelf ??= identityOf(process.pid);
  assert(knownSelf !== undefined, 'The running process is not in the table of processes.');
  return knownSelf;
};

export const sameProcess = (a: ProcessIdentity, b: ProcessIdentity): boolean =>
  a.pid === b.pid && a.startTime === b.startTime && a.bootId === b.bootId;

/** Sends a signal to exactly this process; one that is gone is no error. Between look and signal lie microseconds, not a lock. */
export const signalProcess = (identity: ProcessIdentity, signal: NodeJS.Signals): void => {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // Gone in between, or not ours to end (it changed its user): the caller looks again and counts what is left.
  }
};
