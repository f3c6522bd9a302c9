import { createHash } from 'node:crypto';
import { lstat, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { createGit } from './git.ts';
import type { CheckoutFingerprint, Repository } from './port.ts';
import { listRefs } from './refs.ts';

/** Larger files are compared by size and time. */
const hashedBytes = 32 * 1024 * 1024;

const hash = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const fileHash = async (file: string): Promise<string> => {
  try {
    const stat = await lstat(file);
    if (stat.isSymbolicLink()) return `link ${hash(await readlink(file))}`;
    if (!stat.isFile()) return 'no file';
    if (stat.size > hashedBytes) return `size ${stat.size} time ${stat.mtimeMs}`;
    return `${stat.mode.toString(8)} ${hash(await readFile(file))}`;
  } catch {
    return 'absent';
  }
};

// `1 XY ...8 fields... path`, `2 XY ...9 fields... path NUL old path`, `u XY ...10 fields... path`, `? path` (git-status, porcelain v2).
const statusPaths = (fields: readonly string[]): Map<string, string> => {
  const paths = new Map<string, string>();
  const columns: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 };
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? '';
    const parts = field.split(' ');
    const skipped = columns[field[0] ?? ''];
    if (skipped === undefined) continue;
    paths.set(parts.slice(skipped).join(' '), parts.slice(0, skipped).join(' '));
    if (field.startsWith('2')) at += 1;
  }
  return paths;
};

/** The git folder of the checkout: named by the link in a linked worktree. Read anew each time, so that a link put elsewhere shows. */
const gitDirOf = async (repository: Repository): Promise<string> => {
  if (repository.bare) return repository.root;
  const link = path.join(repository.root, '.git');
  const isFolder = (await lstat(link).catch(() => undefined))?.isDirectory() === true;
  return isFolder ? link : createGit(repository.root).line(['rev-parse', '--absolute-git-dir']);
};

/**
 * What of the user's checkout must be the same before and after (L6). Reads alone: not even the times in the index are refreshed.
 * `status` is JSON: path to the state git reports and a hash of the bytes.
 */
export const fingerprintCheckout = async (repository: Repository): Promise<CheckoutFingerprint> => {
  const git = createGit(repository.root);
  const gitDir = await gitDirOf(repository);
  const stash = (await listRefs(git, 'refs/stash')).get('refs/stash') ?? '';
  const status: Record<string, string> = {};
  let head = '';
  if (repository.bare) head = (await git.run(['rev-parse', '--verify', '-q', 'HEAD'], { allow: [1] })).bytes.toString('utf8').trim();
  else {
    const fields = await git.fields([
      'status',
      '--porcelain=v2',
      '--branch',
      '--no-ahead-behind',
      '-z',
      '--untracked-files=all',
      '--no-renames',
    ]);
    head = fields.find((field) => field.startsWith('# branch.oid '))?.slice('# branch.oid '.length) ?? '';
    for (const [file, state] of statusPaths(fields)) status[file] = `${state} ${await fileHash(path.join(repository.root, file))}`;
  }
  return {
    head: `${await fileHash(path.join(gitDir, 'HEAD'))} ${head}`,
    index: await fileHash(path.join(gitDir, 'index')),
    config: `${await fileHash(path.join(repository.commonDir, 'config'))} ${await fileHash(path.join(gitDir, 'config.worktree'))}`,
    stash: `${stash} ${await fileHash(path.join(repository.commonDir, 'logs', 'refs', 'stash'))}`,
    status: JSON.stringify(status),
  };
};

const pathsNamed = 10;

/** What differs between two fingerprints, one sentence each; none when the checkout is as it was. */
export const differences = (before: CheckoutFingerprint, after: CheckoutFingerprint): string[] => {
  const found: string[] = [];
  if (before.head !== after.head) found.push('HEAD of the checkout moved.');
  if (before.index !== after.index) found.push('The index of the checkout changed.');
  if (before.config !== after.config) found.push('The git configuration of the repository changed.');
  if (before.stash !== after.stash) found.push('The stash changed.');
  const was = new Map(Object.entries(JSON.parse(before.status) as Record<string, string>));
  const is = new Map(Object.entries(JSON.parse(after.status) as Record<string, string>));
  const files = [...new Set([...was.keys(), ...is.keys()])].filter((file) => was.get(file) !== is.get(file)).sort();
  if (files.length > 0) {
    const named = files.slice(0, pathsNamed).map((file) => JSON.stringify(file));
    found.push(
      `${files.length} file${files.length === 1 ? '' : 's'} of the checkout changed: ${named.join(', ')}${files.length > pathsNamed ? ', ...' : ''}.`,
    );
  }
  return found;
};
