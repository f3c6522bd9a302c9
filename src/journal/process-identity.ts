import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../process/index.ts';

const readOrEmpty = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Start time of a living process in clock ticks since boot, from /proc (proc_pid_stat(5), field 22); undefined when it is gone or a zombie. */
const linuxStartTime = (pid: number): string | undefined => {
  // The second field is the program's name in brackets and may hold blanks and brackets itself.
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? '';
  return state === '' || state === 'Z' || state === 'X' ? undefined : fields[19];
};

/** Elsewhere `ps` knows the start time to the second. */
const psStartTime = (pid: number): string | undefined => {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5_000,
    });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
};

const startTimeOf = process.platform === 'linux' ? linuxStartTime : psStartTime;

const bootId = (): string => readOrEmpty('/proc/sys/kernel/random/boot_id').trim();

export const ownIdentity = (): ProcessIdentity => ({ pid: process.pid, startTime: startTimeOf(process.pid) ?? '', bootId: bootId() });

export const sameIdentity = (a: ProcessIdentity, b: ProcessIdentity): boolean =>
  a.pid === b.pid && a.startTime === b.startTime && a.bootId === b.bootId;

/** True while that very process lives: a number that the system gave to another program, or another boot, is not it. */
export const isAlive = (identity: ProcessIdentity): boolean =>
  identity.bootId === bootId() && startTimeOf(identity.pid) === identity.startTime;
