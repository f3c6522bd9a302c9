import { createHash } from 'node:crypto';
import { lstat, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { decidingVariables, filesNamed, isDependencyFile, isLockFile } from './dependency-files.ts';

/** A checkout in which a set-up command is to run. */
export interface DependencyPlace {
  /** Top folder of the checkout, absolute, real path. */
  readonly dir: string;
  /** The loop's folder in it, where the command runs; '' for the top. */
  readonly prefix: string;
  readonly command: string;
  /** Environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Dependency folders, relative to `prefix`. */
  readonly folders: readonly string[];
}

/** Raised whenever folders kept by an older version must not be used. */
const format = 'gyre.dependencies/1';

/** More bytes in one such file are not read: nobody wrote it by hand or by lock. */
const fileBytesMax = 64 * 1024 * 1024;

const contentOf = async (file: string): Promise<string | undefined> => {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined) return 'missing';
  if (stat.isSymbolicLink()) return `link ${await readlink(file)}`;
  if (!stat.isFile() || stat.size > fileBytesMax) return undefined;
  const hash = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  return `${(stat.mode & 0o111) === 0 ? 'file' : 'program'} ${hash}`;
};

/**
 * One hash of everything that decides what the command puts into its folders: lock files, package manifests and what else
 * `isDependencyFile` names, as they stand in the checkout; files named in the command; command, folders, environment, Node, platform.
 * @param tracked paths in the index of the checkout
 * @returns undefined where nothing pins the dependencies: no lock file, or one that cannot be read
 */
export const dependencyKey = async (place: DependencyPlace, tracked: readonly string[]): Promise<string | undefined> => {
  const { dir, prefix, command, env, folders } = place;
  if (!tracked.some(isLockFile)) return undefined;
  const files = new Set([...tracked.filter(isDependencyFile), ...filesNamed(command, prefix, new Set(tracked))]);
  const contents: (readonly [string, string])[] = [];
  for (const file of [...files].toSorted()) {
    const content = await contentOf(path.join(dir, file));
    if (content === undefined) return undefined;
    contents.push([file, content]);
  }
  const machine = [process.versions.node, process.platform, process.arch, process.umask()];
  return createHash('sha256')
    .update(JSON.stringify([format, machine, prefix, command, folders, decidingVariables(env), contents]))
    .digest('hex');
};
