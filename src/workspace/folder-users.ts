import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';

/**
 * Numbers of processes that stand in a folder or hold something in it open, as far as this user may see; undefined where the system does
 * not tell (no /proc).
 */
export const folderUsers = async (dir: string): Promise<readonly number[] | undefined> => {
  const numbers = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  if (numbers.length === 0) return undefined;
  const inside = (target: string): boolean => target === dir || target.startsWith(`${dir}${path.sep}`);
  const users: number[] = [];
  for (const number of numbers) {
    const held = (await readdir(`/proc/${number}/fd`).catch(() => [])).map((handle) => `fd/${handle}`);
    const targets = await Promise.all(['cwd', 'root', ...held].map((name) => readlink(`/proc/${number}/${name}`).catch(() => '')));
    if (targets.some(inside)) users.push(Number(number));
  }
  return users;
};
