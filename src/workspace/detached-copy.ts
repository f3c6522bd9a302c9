import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createGit, type Git } from './git.ts';

// A repository of its own that reads the objects of another through `objects/info/alternates` and writes only its own: what
// `git clone --shared` makes, without its refs and its remote, and also for a shallow source, which that command refuses to share.

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

/**
 * Makes the copy, with nothing checked out yet.
 * @param place.sourceDir git folder that owns the objects
 * @param place.dir work tree of the copy; made if missing
 * @param place.gitDir where the copy's git folder goes; `<dir>/.git` when undefined
 */
export const makeDetachedCopy = async (place: {
  readonly sourceDir: string;
  readonly dir: string;
  readonly gitDir: string | undefined;
}): Promise<Git> => {
  const { sourceDir, dir } = place;
  const source = createGit(sourceDir, { gitDir: sourceDir });
  const gitDir = place.gitDir ?? path.join(dir, '.git');
  await mkdir(dir, { recursive: true });
  await mkdir(path.dirname(gitDir), { recursive: true });
  const format = await source.line(['rev-parse', '--show-object-format']);
  const apart = place.gitDir === undefined ? [] : [`--separate-git-dir=${gitDir}`];
  await createGit(path.dirname(dir)).run(['init', '-q', '--template=', `--object-format=${format}`, ...apart, '--', dir], {
    settings: ['init.defaultBranch=gyre'],
  });
  const git = createGit(dir, { gitDir, workTree: dir });
  await mkdir(path.join(gitDir, 'objects', 'info'), { recursive: true });
  await mkdir(path.join(gitDir, 'info'), { recursive: true });
  // The format of the file ends a path at a line feed and unquotes one that begins with a quotation mark (gitrepository-layout).
  const objects = path.join(sourceDir, 'objects');
  await writeFile(path.join(gitDir, 'objects', 'info', 'alternates'), `${/[\n"]/.test(objects) ? JSON.stringify(objects) : objects}\n`);
  await copyIfThere(path.join(sourceDir, 'shallow'), path.join(gitDir, 'shallow'));
  await copyIfThere(path.join(sourceDir, 'info', 'attributes'), path.join(gitDir, 'info', 'attributes'));
  for (const setting of await source.fields(['config', '--local', '--includes', '-z', '--list'])) {
    const [key = '', ...value] = setting.split('\n');
    if (carried.test(key) && value.length > 0) await git.run(['config', '--local', '--add', '--', key, value.join('\n')]);
  }
  return git;
};
