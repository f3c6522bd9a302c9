import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createGit, type Git } from './git.ts';
import { readSettings, settingOf, settingText, type Setting } from './settings.ts';

// A repository of its own that reads the objects of another through `objects/info/alternates` and writes only its own: what
// `git clone --shared` makes, without its refs and its remote, and also for a shallow source, which that command refuses to share.
// Its git folder is written here, file by file (gitrepository-layout), which spares three calls of git a copy.

/** Settings that decide which bytes a checkout writes. Everything else of the user's configuration stays with the user. */
const carried =
  /^(?:core\.(?:autocrlf|eol|safecrlf|symlinks|filemode|ignorecase|longpaths|protectntfs|precomposeunicode|attributesfile)|filter\..+|lfs\..+)$/i;

const copyIfThere = async (from: string, to: string): Promise<void> => {
  try {
    await copyFile(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

const configText = (settings: readonly Setting[]): string => {
  const format = settingOf(settings, 'extensions.objectformat') ?? 'sha1';
  const kept = settings.filter(({ scope, key, value }) => scope === 'local' && value !== undefined && carried.test(key));
  return [
    settingText('core.repositoryformatversion', format === 'sha1' ? '0' : '1'),
    ...(format === 'sha1' ? [] : [settingText('extensions.objectformat', format)]),
    settingText('core.filemode', 'true'),
    settingText('core.bare', 'false'),
    settingText('core.logallrefupdates', 'true'),
    ...kept.map(({ key, value }) => settingText(key, value ?? '')),
  ].join('');
};

/**
 * Makes the copy, with nothing checked out yet.
 * @param place.sourceDir git folder that owns the objects
 * @param place.dir work tree of the copy; made if missing
 * @param place.gitDir where the copy's git folder goes, which must not exist yet; `<dir>/.git` when undefined
 * @param place.settings configuration of the source when it was just read
 */
export const makeDetachedCopy = async (place: {
  readonly sourceDir: string;
  readonly dir: string;
  readonly gitDir: string | undefined;
  readonly settings?: readonly Setting[];
}): Promise<Git> => {
  const { sourceDir, dir } = place;
  const settings = place.settings ?? (await readSettings(createGit(sourceDir, { gitDir: sourceDir })));
  const gitDir = place.gitDir ?? path.join(dir, '.git');
  await mkdir(dir, { recursive: true });
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
    await mkdir(path.join(gitDir, folder), { recursive: true });
  if (place.gitDir !== undefined) await writeFile(path.join(dir, '.git'), `gitdir: ${gitDir}\n`);
  // The format of the file ends a path at a line feed and unquotes one that begins with a quotation mark (gitrepository-layout).
  const objects = path.join(sourceDir, 'objects');
  await writeFile(path.join(gitDir, 'objects', 'info', 'alternates'), `${/[\n"]/.test(objects) ? JSON.stringify(objects) : objects}\n`);
  await copyIfThere(path.join(sourceDir, 'shallow'), path.join(gitDir, 'shallow'));
  await copyIfThere(path.join(sourceDir, 'info', 'attributes'), path.join(gitDir, 'info', 'attributes'));
  await writeFile(path.join(gitDir, 'config'), configText(settings));
  // A folder is a repository from this file on.
  await writeFile(path.join(gitDir, 'HEAD'), 'ref: refs/heads/gyre\n');
  return createGit(dir, { gitDir, workTree: dir });
};
