// Looks at real processes for tests, on its own and by other means than the code under test: Linux /proc, read here.
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
};

/** True while a process of this number runs; a dead one that waits to be reaped does not. */
export const isRunning = (pid: number): boolean => {
  const stat = readOr(`/proc/${pid}/stat`);
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  return stat !== '' && state !== 'Z' && state !== 'X';
};

/** Numbers of all running processes whose environment holds exactly `GYRE_MARK=<marker>`. */
export const aliveWithMark = (marker: string): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRunning(pid))
    .filter((pid) => readOr(`/proc/${pid}/environ`).split('\0').includes(`GYRE_MARK=${marker}`));

/** Arguments of a running process. */
export const argvOf = (pid: number): readonly string[] => readOr(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);

const pauseMs = 20;

/**
 * Waits until `look` gives something other than `undefined` and `false`, and returns it.
 * @throws after `withinMs`, with `what`
 */
export const waitUntil = async <Found>(
  look: () => Found | undefined | false,
  options: { readonly withinMs: number; readonly what?: string },
): Promise<Found> => {
  const until = performance.now() + options.withinMs;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() >= until) throw new Error(`Within ${options.withinMs} ms this did not come: ${options.what ?? look.toString()}`);
    await sleep(pauseMs);
  }
};

/**
 * Passes when no process with the marker is left, at the latest after a second (a killed process needs a moment to be gone).
 * @throws with their numbers and arguments otherwise
 */
export const assertNoLeftovers = async (marker: string): Promise<void> => {
  const graceMs = 1_000;
  const until = performance.now() + graceMs;
  while (aliveWithMark(marker).length > 0 && performance.now() < until) await sleep(pauseMs);
  const left = aliveWithMark(marker);
  if (left.length > 0) throw new Error(`Left of ${marker}: ${left.map((pid) => `${pid} ${argvOf(pid).join(' ')}`).join('; ')}`);
};
