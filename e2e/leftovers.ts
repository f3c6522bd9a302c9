// Processes that a run left behind. Agents start their tools in sessions of their own, so neither parent nor group leads to them; the
// environment does, because children inherit it.
import { readFile, readdir } from 'node:fs/promises';

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** A file of /proc, or nothing: the process may be gone, or belong to somebody else. */
const readProc = async (pid: number, name: string): Promise<string> => {
  try {
    return await readFile(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
};

/**
 * Every process whose environment holds the marker, this one left out. Zombies have no environment any more and do not count. Linux only.
 * @param marker a text that no other process has in its environment
 */
export const findLeftovers = async (marker: string): Promise<readonly Leftover[]> => {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid): Promise<readonly Leftover[]> => {
      if (!(await readProc(pid, 'environ')).includes(marker)) return [];
      return [{ pid, command: (await readProc(pid, 'cmdline')).replaceAll('\0', ' ').trim() }];
    }),
  );
  return found.flat();
};
