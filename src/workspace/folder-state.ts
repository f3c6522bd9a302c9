import { lstatSync, readdirSync, type BigIntStats } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Defect } from '../core/fault.ts';

// What stands in a folder, told so that any later change shows. The kernel sets the change time of a file (ctime) at every write, chmod,
// link, rename, utimes and extended attribute, and no program can set it to a value of its choice: a file with the inode and the change
// time it had, to the nanosecond, has the bytes it had. Git itself compares whole seconds, which is why its index alone proves nothing.

export interface EntryState {
  readonly kind: 'file' | 'link' | 'folder' | 'other';
  /** Device, inode, change time, mode, size, number of names: equal means untouched. */
  readonly mark: string;
  readonly mode: number;
  readonly names: number;
  readonly changedNs: bigint;
  readonly bytes: number;
}

const kindOf = (stat: BigIntStats): EntryState['kind'] =>
  stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : 'other';

/** Reads one entry; a link is read as a link. */
export const entryState = (file: string): EntryState => {
  const stat = lstatSync(file, { bigint: true });
  const kind = kindOf(stat);
  // Size and number of names of a folder say nothing that its change time does not.
  const own = kind === 'folder' ? '' : ` ${stat.size} ${stat.nlink}`;
  return {
    kind,
    mark: `${kind} ${stat.dev}:${stat.ino} ${stat.ctimeNs} ${stat.mode} ${stat.uid}${own}`,
    mode: Number(stat.mode),
    names: Number(stat.nlink),
    changedNs: stat.ctimeNs,
    bytes: kind === 'file' ? Number(stat.size) : 0,
  };
};

/** Names in a folder. @throws Defect for a name that is no UTF-8: it could not be given back to the system */
export const namesIn = (dir: string): readonly string[] => {
  const names = readdirSync(dir);
  if (names.some((name) => name.includes('\u{FFFD}'))) throw new Defect(`A name in ${dir} is not valid UTF-8.`);
  return names;
};

const entriesAtOnce = 2_000;

/**
 * Everything below a folder but its own `.git`, path (`/`-separated) to state, folders before what is in them.
 * @param known files that were read a moment ago: that they are there is looked at, not how
 */
export const readFolder = async (
  dir: string,
  known: ReadonlyMap<string, EntryState> = new Map(),
): Promise<ReadonlyMap<string, EntryState>> => {
  const found = new Map<string, EntryState>();
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const name of namesIn(path.join(dir, folder))) {
      const file = folder === '' ? name : `${folder}/${name}`;
      if (file === '.git') continue;
      const state = known.get(file) ?? entryState(path.join(dir, file));
      found.set(file, state);
      if (state.kind === 'folder') waiting.push(file);
      // The engine has more to do than to count files.
      if (found.size % entriesAtOnce === 0) await turn();
    }
  }
  return found;
};

/** The clock of file times ticks up to every 10 ms: what changed so shortly before the look could change again within one tick. */
const tickNs = 20_000_000n;

const secondNs = 1_000_000_000n;

/**
 * Marks that prove something: those of entries that were at rest when they were looked at. None where the file system keeps whole seconds.
 * @param lookedAtMs epoch milliseconds at which the look began
 */
export const provingMarks = (state: ReadonlyMap<string, EntryState>, lookedAtMs: number): ReadonlyMap<string, string> => {
  if ([...state.values()].every(({ changedNs }) => changedNs % secondNs === 0n)) return new Map();
  const latest = BigInt(Math.floor(lookedAtMs)) * 1_000_000n - tickNs;
  return new Map([...state].flatMap(([file, { mark, changedNs }]) => (changedNs < latest ? [[file, mark] as const] : [])));
};
