import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Defect } from '../core/fault.ts';

/** Copies that wait for the disk at once; the system works on four of them. */
const atOnce = 32;

/**
 * Copies a folder so that nothing done to one is seen in the other: the blocks are shared where the file system copies on write, the bytes
 * are copied where it does not, and no file is a second name of another. Links are copied as links. Kinds and permissions stay.
 * @param to must not exist
 * @param look sees every entry before it is copied, and may throw
 * @throws Defect for what is neither file, link nor folder
 */
export const copyFolder = async (
  from: string,
  to: string,
  look: (entry: { readonly file: string; readonly kind: 'file' | 'link' }) => Promise<void> = async () => {},
): Promise<void> => {
  await mkdir(to);
  const entries = await readdir(from, { withFileTypes: true });
  for (let first = 0; first < entries.length; first += atOnce) {
    await Promise.all(
      entries.slice(first, first + atOnce).map(async (entry) => {
        const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
        if (entry.isDirectory()) return;
        if (!entry.isFile() && !entry.isSymbolicLink()) throw new Defect(`${source} is neither a file nor a link nor a folder.`);
        await look({ file: source, kind: entry.isFile() ? 'file' : 'link' });
        if (entry.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
        else await symlink(await readlink(source), target);
      }),
    );
  }
  for (const entry of entries) if (entry.isDirectory()) await copyFolder(path.join(from, entry.name), path.join(to, entry.name), look);
  // Last: a folder may be one that takes nothing new.
  await chmod(to, (await lstat(from)).mode & 0o7777);
};

/** Whether files of a folder can be copied without copying their bytes. Makes a file there and removes it. */
export const copiesOnWrite = async (dir: string): Promise<boolean> => {
  const place = await mkdtemp(path.join(dir, 'copy-'));
  try {
    await writeFile(path.join(place, 'one'), 'x'.repeat(8192));
    return await copyFile(path.join(place, 'one'), path.join(place, 'two'), constants.COPYFILE_FICLONE_FORCE).then(
      () => true,
      () => false,
    );
  } finally {
    await rm(place, { recursive: true, force: true });
  }
};
