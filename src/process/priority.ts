import { existsSync, writeFileSync } from 'node:fs';
import os from 'node:os';

/** As the command `nice` does when nothing else is said (POSIX). */
const lowerBy = 10;
const lowest = 19;

/**
 * Where Linux shares the processors among sessions first (sched(7), "The autogroup feature"), the priority of a process counts within its
 * session alone, and each program that Gyre starts is a session of its own: a thousand of them would leave the engine a thousandth. So the
 * priority of the session is lowered as well.
 * @returns whether it was; a system may allow it to one user only ten times a second
 */
const lowerSession = (pid: number | 'self'): boolean => {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(lowerBy));
    return true;
  } catch {
    return false;
  }
};

/**
 * Lowers the priority of this process and of all that it will start: whoever sits at the machine, and the engine itself, go first. A system
 * that refuses leaves it as it is.
 */
export const stepBack = (): void => {
  try {
    os.setPriority(Math.min(lowest, os.getPriority() + lowerBy));
  } catch {
    // It only makes others wait.
  }
  lowerSession('self');
};

/**
 * The same for the session of a child that was just started in one of its own; its own priority it has from the process that calls.
 * @returns whether that is settled; if not, trying again later is of use
 */
export const holdBack = (pid: number): boolean => !existsSync('/proc/self/autogroup') || lowerSession(pid);
