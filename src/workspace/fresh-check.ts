import type { EntryState } from './folder-state.ts';
import type { TreeEntry } from './tree-reading.ts';

/**
 * Why a folder is not what a fresh checkout of these entries is; undefined when it is. Looks at names, kinds, permissions and hard links;
 * that the bytes are right is what marks and git answer for. Pure.
 * @param entries of the index, none of them a submodule
 * @param umask of this process
 */
export const notFresh = (state: ReadonlyMap<string, EntryState>, entries: readonly TreeEntry[], umask: number): string | undefined => {
  const folders = new Set<string>();
  for (const entry of entries) {
    const found = state.get(entry.path);
    const kind = entry.mode === '120000' ? 'link' : 'file';
    if (found?.kind !== kind) return `${entry.path} is ${found === undefined ? 'missing' : `a ${found.kind}`}`;
    if (found.names !== 1) return `${entry.path} has ${found.names} names`;
    const allowed = (entry.mode === '100755' ? 0o777 : 0o666) & ~umask;
    if (kind === 'file' && (found.mode & 0o7777) !== allowed)
      return `${entry.path} has the permissions ${(found.mode & 0o7777).toString(8)}`;
    for (let end = entry.path.lastIndexOf('/'); end > 0; end = entry.path.lastIndexOf('/', end - 1)) {
      const folder = entry.path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  for (const folder of folders) {
    const found = state.get(folder);
    if (found?.kind !== 'folder' || (found.mode & 0o777) !== (0o777 & ~umask)) return `${folder} is not the folder it must be`;
  }
  const more = state.size - entries.length - folders.size;
  return more === 0 ? undefined : `${more} entries are there that the commit does not have`;
};
