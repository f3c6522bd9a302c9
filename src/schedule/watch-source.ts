// Files are compared by content, looked at after a hint and every half minute. The hints are `fs.watch` on the folders that hold matching
// files, and on the folder itself: node_modules and other ignored trees cost nothing, and no package is needed.

import { watch, type FSWatcher } from 'node:fs';
import type { Git } from '../workspace/index.ts';
import { debounceMs, slowLookMs, watchedFoldersCount } from './limits.ts';
import type { Source } from './source.ts';
import { readWatchedFiles, type ContentCache } from './watched-files.ts';

export const watchSource = ({ git, globs }: { readonly git: Git; readonly globs: readonly string[] }): Source => {
  const cache: ContentCache = new Map();
  const watchers = new Map<string, FSWatcher>();
  let soon: (() => void) | undefined;

  const watchFolders = (folders: readonly string[]): void => {
    const wanted = new Set([git.dir, ...folders].slice(0, watchedFoldersCount));
    for (const [folder, watcher] of watchers)
      if (!wanted.has(folder)) {
        watcher.close();
        watchers.delete(folder);
      }
    for (const folder of wanted) {
      if (watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, () => soon?.());
        watcher.on('error', () => {
          watcher.close();
          watchers.delete(folder);
        });
        watchers.set(folder, watcher);
      } catch {
        // No hint for this folder (gone, or no more watches to be had): the slow look sees its changes.
      }
    }
  };

  return {
    parts: 'repeatable',
    pollMs: slowLookMs,
    look: async (seen) => {
      let { fingerprint, folders } = await readWatchedFiles(git, globs, cache);
      if (soon !== undefined) {
        const known = new Set(watchers.keys());
        watchFolders(folders);
        // What changed in a new folder before its watch began was seen by nobody: look once more.
        if (folders.some((folder) => !known.has(folder))) ({ fingerprint, folders } = await readWatchedFiles(git, globs, cache));
      }
      const before = seen?.['fingerprint'];
      return {
        events: before === undefined || before === fingerprint ? [] : [{ part: fingerprint, cause: { from: before, to: fingerprint } }],
        seen: { fingerprint },
      };
    },
    hint: (poke) => {
      let timer: NodeJS.Timeout | undefined;
      soon = () => {
        clearTimeout(timer);
        timer = setTimeout(poke, debounceMs);
      };
      return {
        [Symbol.dispose]: () => {
          soon = undefined;
          clearTimeout(timer);
          for (const watcher of watchers.values()) watcher.close();
          watchers.clear();
        },
      };
    },
  };
};
