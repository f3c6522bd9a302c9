import { mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

// Reading and writing inside a clean room. A candidate may have put a symbolic link anywhere in it; nothing here follows one outside.

const isInside = (folder: string, file: string): boolean => file === folder || file.startsWith(`${folder}${path.sep}`);

const realOrUndefined = async (file: string): Promise<string | undefined> => {
  try {
    return await realpath(file);
  } catch {
    return undefined;
  }
};

/** The real path of an existing folder of the room, or one sentence why there is none. */
export const folderInRoom = async (room: string, prefix: string): Promise<{ readonly dir: string } | { readonly problem: string }> => {
  const root = await realOrUndefined(room);
  if (root === undefined) return { problem: `The clean room ${room} is gone. The check did not run, here or elsewhere.` };
  const dir = await realOrUndefined(path.join(root, prefix));
  if (dir === undefined || !(await stat(dir)).isDirectory())
    return { problem: `The folder ${JSON.stringify(prefix)} does not exist in the commit.` };
  if (!isInside(root, dir)) return { problem: `The folder ${JSON.stringify(prefix)} is a link that leads out of the checkout.` };
  return { dir };
};

/** Puts a file into the room in place of what stands there. Returns one sentence when that would write outside, else ''. */
export const writeInRoom = async (room: string, file: string, text: string): Promise<string> => {
  const target = path.join(room, file);
  const root = await realpath(room);
  // The deepest folder that exists already must be inside before anything is made below it.
  let parent = path.dirname(target);
  while ((await realOrUndefined(parent)) === undefined) parent = path.dirname(parent);
  if (!isInside(root, await realpath(parent))) return `${JSON.stringify(file)} stands behind a link that leads out of the checkout.`;
  await mkdir(path.dirname(target), { recursive: true });
  // Removed first: writing through a link would change what it points to.
  await rm(target, { force: true, recursive: true });
  await writeFile(target, text, { flag: 'wx' });
  return '';
};

export type RoomText = { readonly text: string } | { readonly problem: string };

/** Text of a regular file in the room, at most `bytesMax` long. */
export const readInRoom = async (room: string, file: string, bytesMax: number): Promise<RoomText> => {
  const shown = JSON.stringify(path.relative(room, file));
  const [root, real] = [await realOrUndefined(room), await realOrUndefined(file)];
  if (root === undefined || real === undefined) return { problem: `${shown} was not written.` };
  if (!isInside(root, real)) return { problem: `${shown} stands outside the checkout.` };
  const facts = await stat(real);
  if (!facts.isFile()) return { problem: `${shown} is not a file.` };
  if (facts.size > bytesMax) return { problem: `${shown} has ${facts.size} bytes; at most ${bytesMax} are read.` };
  return { text: await readFile(real, 'utf8') };
};
