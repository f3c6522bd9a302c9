import { mkdirSync, mkdtempSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { entryState, namesIn, type EntryState } from './folder-state.ts';
import { removeFolder } from './remove-folder.ts';

/** A folder is the one it was; whether something in it was added or removed does not matter here. */
const sameFolder = (now: EntryState, known: string | undefined): boolean => {
  if (now.kind !== 'folder' || known === undefined) return false;
  const part = (mark: string): string => mark.split(' ').toSpliced(2, 1).join(' ');
  return part(now.mark) === part(known);
};

/** Makes a folder anew around what was kept of it: attributes and access lists of the old one are gone with it. */
const makeAnew = async (dir: string, kept: readonly string[]): Promise<void> => {
  const fresh = path.join(mkdtempSync(`${dir}.`), 'new');
  mkdirSync(fresh);
  for (const name of kept) renameSync(path.join(dir, name), path.join(fresh, name));
  await removeFolder(dir);
  renameSync(fresh, dir);
  rmdirSync(path.dirname(fresh));
};

/**
 * Takes from a folder everything that is not proven to be as it was: files with another mark, whatever came new, and every file of a
 * folder in which something came or went. Links are removed as links.
 * @param marks what was there, by path (`provingMarks`)
 * @returns the files that were kept, by path
 * @throws whatever the system says; the folder proves nothing then
 */
export const keepProven = async (dir: string, marks: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, EntryState>> => {
  const kept = new Map<string, EntryState>();
  let seen = 0;
  const clean = async (folder: string): Promise<number> => {
    const remaining: string[] = [];
    const whole = folder !== '' && entryState(path.join(dir, folder)).mark === marks.get(folder);
    for (const name of namesIn(path.join(dir, folder))) {
      const file = folder === '' ? name : `${folder}/${name}`;
      const place = path.join(dir, file);
      const now = entryState(place);
      seen += 1;
      if (seen % 2_000 === 0) await turn();
      if (now.kind === 'folder') {
        if (sameFolder(now, marks.get(file)) && (await clean(file)) > 0) remaining.push(name);
        else await removeFolder(place);
      } else if (whole && now.kind !== 'other' && now.mark === marks.get(file)) {
        remaining.push(name);
        kept.set(file, now);
      } else unlinkSync(place);
    }
    if (!whole && folder !== '' && remaining.length > 0) await makeAnew(path.join(dir, folder), remaining);
    return remaining.length;
  };
  await clean('');
  return kept;
};
