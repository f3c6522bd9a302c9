import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

// A folder inside a workspace may be a link to the user's own (node_modules). Everything here goes by lstat: a link is removed or
// counted as a link, and what it points to is never entered.

const makeWritable = async (dir: string): Promise<void> => {
  const stat = await lstat(dir).catch(() => undefined);
  if (stat === undefined || !stat.isDirectory()) return;
  await chmod(dir, stat.mode | 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(path.join(dir, entry.name));
  }
};

/** Removes a folder with all that is in it, never what its links point to. No error if it is not there. */
export const removeFolder = async (dir: string): Promise<void> => {
  try {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // Package caches make their folders read-only; nothing can be removed from such a folder.
    await makeWritable(dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
};

const entriesCounted = 200_000;

/** Bytes of the files below a folder, links not followed; counting ends after 200,000 entries. */
export const folderBytes = async (dir: string): Promise<number> => {
  const waiting = [dir];
  let bytes = 0;
  let seen = 0;
  for (let folder = waiting.pop(); folder !== undefined && seen < entriesCounted; folder = waiting.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      seen += 1;
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(file);
      else bytes += (await lstat(file).catch(() => undefined))?.size ?? 0;
    }
  }
  return bytes;
};
