import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import path from 'node:path';
import picomatch from 'picomatch';
import { Fault } from '../core/fault.ts';
import type { Git } from '../workspace/index.ts';
import { gitMs, gitOutputBytes, watchedFileBytes, watchedFilesCount } from './limits.ts';

export interface WatchedFiles {
  /** Hash over names and contents. */
  readonly fingerprint: string;
  /** Folders that hold the files, absolute. */
  readonly folders: readonly string[];
}

/** Content hash by path, with the times and size it belongs to: only what changed is read again. */
export type ContentCache = Map<string, { readonly stamp: string; readonly hash: string }>;

const contentOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
};

/**
 * Reads the files that match the globs and that git does not ignore, tracked or not, in the folder git runs in.
 * @throws Fault TOO_MANY_FILES, or of git
 */
export const readWatchedFiles = async (git: Git, globs: readonly string[], cache: ContentCache): Promise<WatchedFiles> => {
  const isWanted = picomatch([...globs], { dot: true });
  const listed = await git.fields(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    limitMs: gitMs,
    outputBytes: gitOutputBytes,
  });
  const names = [...new Set(listed)].filter((name) => isWanted(name)).sort();
  if (names.length > watchedFilesCount)
    throw new Fault('TOO_MANY_FILES', `watch matches ${names.length} files, and a trigger watches at most ${watchedFilesCount}.`, {
      hint: 'Narrow the globs in the loop file.',
    });
  const whole = createHash('sha256');
  for (const name of names) {
    const file = path.join(git.dir, name);
    const info = await lstat(file, { bigint: true }).catch(() => undefined);
    // Tracked and deleted, or gone since the list was made.
    if (info === undefined || info.isDirectory()) {
      cache.delete(name);
      continue;
    }
    const stamp = `${info.size} ${info.mtimeNs} ${info.ctimeNs} ${info.ino}`;
    let hash = cache.get(name)?.stamp === stamp ? cache.get(name)?.hash : undefined;
    if (hash === undefined) {
      try {
        hash = info.isSymbolicLink()
          ? `-> ${await readlink(file)}`
          : info.isFile() && info.size <= watchedFileBytes
            ? await contentOf(file)
            : stamp;
      } catch {
        // Unreadable, or gone: its times stand for it.
        hash = stamp;
      }
      cache.set(name, { stamp, hash });
    }
    whole.update(`${name}\0${hash}\0`);
  }
  const folders = [...new Set(names.map((name) => path.join(git.dir, path.dirname(name))))];
  return { fingerprint: whole.digest('hex').slice(0, 32), folders };
};
