import { lstat, readFile, readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../core/fault.ts';
import { createGit, type Git } from './git.ts';
import type { Repository } from './port.ts';

// A worktree hangs on two files that point at each other: `<dir>/.git` and `<common>/worktrees/<id>/gitdir`. When the first is gone,
// git looks upward and works in whatever repository it meets there. So the link is checked before every use, and git is then told
// both ends by name.

/** A file's text without blanks at its ends; undefined for what is no plain file. */
export const readLine = async (file: string): Promise<string | undefined> => {
  try {
    return (await lstat(file)).isFile() ? (await readFile(file, 'utf8')).trim() : undefined;
  } catch {
    return undefined;
  }
};

const isThere = async (file: string): Promise<boolean> => (await lstat(file).catch(() => undefined)) !== undefined;

const real = (file: string): Promise<string | undefined> => realpath(file).catch(() => undefined);

/** The admin folder (`<common>/worktrees/<id>`) of a worktree whose link is whole in both directions, else undefined. */
export const adminDirOf = async (repository: Repository, dir: string): Promise<string | undefined> => {
  const link = await readLine(path.join(dir, '.git'));
  if (link === undefined || !link.startsWith('gitdir: ')) return undefined;
  const admin = await real(path.resolve(dir, link.slice('gitdir: '.length)));
  if (admin === undefined || path.dirname(admin) !== path.join(repository.commonDir, 'worktrees')) return undefined;
  const back = await readLine(path.join(admin, 'gitdir'));
  if (back === undefined) return undefined;
  const home = await real(path.dirname(path.resolve(admin, back)));
  return home !== undefined && home === (await real(dir)) && (await readLine(path.join(admin, 'HEAD'))) !== undefined ? admin : undefined;
};

export interface LinkedWorktree {
  readonly dir: string;
  readonly admin: string;
  /** Git with both ends named; it cannot wander into another repository. */
  readonly git: Git;
}

/** @throws Fault `WORKSPACE_MISSING` */
export const linkedWorktree = async (repository: Repository, dir: string): Promise<LinkedWorktree> => {
  const admin = await adminDirOf(repository, dir);
  if (admin === undefined) {
    throw new Fault('WORKSPACE_MISSING', `The workspace ${dir} is gone, or its link to the repository is broken.`, {
      hint: 'Run the task again: the workspace is rebuilt from the last candidate.',
      data: { dir },
    });
  }
  return { dir, admin, git: createGit(dir, { gitDir: admin, workTree: dir }) };
};

export interface ListedWorktree {
  readonly dir: string;
  /** Full ref name, undefined when detached. */
  readonly branch: string | undefined;
  readonly bare: boolean;
  readonly locked: boolean;
}

/** Every worktree of the repository, the user's too. */
export const listWorktrees = async (git: Git): Promise<ListedWorktree[]> => {
  const out = (await git.run(['worktree', 'list', '--porcelain', '-z'])).bytes.toString('utf8');
  return out
    .split('\0\0')
    .filter((record) => record !== '')
    .map((record) => {
      const lines = record.split('\0');
      const value = (key: string): string | undefined => lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
      return {
        dir: value('worktree') ?? '',
        branch: value('branch'),
        bare: lines.includes('bare'),
        locked: lines.some((line) => line === 'locked' || line.startsWith('locked ')),
      };
    });
};

/**
 * Forgets worktrees of ours whose folder is gone. Entries of the user, and those being made right now, are left alone. What git keeps of
 * them is read from its files: git is asked only when there is something to forget.
 */
export const forgetMissing = async (git: Git, repository: Repository, worktreesDir: string): Promise<void> => {
  const all = path.join(repository.commonDir, 'worktrees');
  for (const name of await readdir(all).catch(() => [])) {
    const link = await readLine(path.join(all, name, 'gitdir'));
    const dir = link === undefined ? '' : path.dirname(path.resolve(all, name, link));
    if (path.dirname(dir) !== worktreesDir || (await isThere(dir)) || (await isThere(path.join(all, name, 'locked')))) continue;
    await git.run(['worktree', 'remove', '--force', '--', dir], { allow: [128] });
  }
};
