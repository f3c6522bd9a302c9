import { access, readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Rejection } from '../core/fault.ts';
import { oneLine, slug } from '../core/text.ts';
import { createGit } from './git.ts';
import type { Repository } from './port.ts';
import { shortHash } from './refs.ts';

/** How many sub-folders are looked at for repositories, and how many are named. */
const foldersLookedAt = 500;
const foldersNamed = 8;

const exists = async (file: string): Promise<boolean> => {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
};

const repositoriesBelow = async (dir: string): Promise<string[]> => {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries.slice(0, foldersLookedAt)) {
    if (entry.isDirectory() && (await exists(path.join(dir, entry.name, '.git')))) found.push(entry.name);
  }
  return found.sort();
};

const notARepository = async (dir: string): Promise<Rejection> => {
  const below = await repositoriesBelow(dir);
  if (below.length === 0) {
    return new Rejection(`${dir} is not in a git repository.`, {
      hint: 'Change into a repository, or make one with `git init` and a first commit.',
    });
  }
  const named = below.slice(0, foldersNamed).join(', ') + (below.length > foldersNamed ? ', ...' : '');
  return new Rejection(`${dir} is not a git repository itself, but holds ${below.length}: ${named}.`, {
    hint: `Start Gyre in one of them, for example in ${below[0] ?? ''}.`,
  });
};

/**
 * The repository a command was started in, from any folder of its work tree, also for a linked worktree or a bare repository.
 * @throws Rejection outside of a repository (naming those in sub-folders), inside of a `.git` folder, or when there is no commit yet
 */
export const findRepository = async (cwd: string): Promise<Repository> => {
  const dir = await realpath(cwd).catch((cause: unknown) => {
    throw new Rejection(`The folder ${cwd} does not exist.`, { hint: String(cause) });
  });
  const git = createGit(dir);
  // Asked at once: every command begins with this. Each path by itself, because it may hold line feeds.
  const [found, top, anyRef] = await Promise.all([
    git.run(['rev-parse', '--is-bare-repository', '--is-inside-work-tree', '--path-format=absolute', '--git-common-dir'], { allow: [128] }),
    git.run(['rev-parse', '--show-toplevel'], { allow: [128] }),
    git.run(['for-each-ref', '--count=1'], { allow: [128] }),
  ]);
  if (found.code !== 0) {
    if (/not a git repository/.test(found.errors)) throw await notARepository(dir);
    throw new Rejection(`Git does not read the repository of ${dir}: ${oneLine(found.errors, 300)}`);
  }
  const [isBare, isInside, ...rest] = found.bytes.toString('utf8').replace(/\n$/, '').split('\n');
  const commonDir = rest.join('\n');
  const bare = isBare === 'true';
  if (!bare && isInside !== 'true') {
    throw new Rejection(`${dir} is inside a git folder, not in a work tree.`, { hint: 'Start Gyre in the folder your files are in.' });
  }
  const root = await realpath(bare ? await git.line(['rev-parse', '--absolute-git-dir']) : top.bytes.toString('utf8').replace(/\n$/, ''));
  if (anyRef.bytes.length === 0 && (await git.run(['rev-parse', '--verify', '-q', 'HEAD'], { allow: [1] })).code === 1) {
    throw new Rejection(`The repository ${root} has no commit yet, so there is nothing to start from.`, {
      hint: 'Make a first commit, for example: git commit --allow-empty -m "Start".',
    });
  }
  return {
    root,
    commonDir: await realpath(commonDir),
    bare,
    prefix: bare ? '' : path.relative(root, dir).split(path.sep).join('/'),
  };
};

/**
 * Where everything of the engine for one repository stands: `<stateRoot>/<folder name>-<hash of the git folder>`. All worktrees of a
 * repository share it; two repositories of one name do not.
 */
export const stateHomeOf = (place: { readonly commonDir: string; readonly stateRoot: string }): string => {
  const folder = path.basename(place.commonDir) === '.git' ? path.dirname(place.commonDir) : place.commonDir;
  return path.join(place.stateRoot, `${slug(path.basename(folder).replace(/\.git$/, ''), 32)}-${shortHash(place.commonDir)}`);
};
