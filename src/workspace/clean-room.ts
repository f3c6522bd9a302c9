import path from 'node:path';
import type { CommitSha } from '../core/ids.ts';
import { makeDetachedCopy } from './detached-copy.ts';
import { createGit, type Git } from './git.ts';
import type { Repository } from './port.ts';
import { removeFolder } from './remove-folder.ts';
import { readSettings } from './settings.ts';
import { fillSubmodules } from './submodules.ts';
import { treeEntries } from './tree-reading.ts';

export interface Pin {
  readonly from: CommitSha;
  readonly paths: readonly string[];
}

const listed = (paths: readonly string[]): string => paths.map((file) => `${file}\0`).join('');

const putPinned = async (git: Git, pin: Pin): Promise<void> => {
  const fromPath = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  const there = new Set((await treeEntries(git, pin.from, pin.paths)).map((entry) => entry.path));
  const gone = pin.paths.filter((file) => !there.has(file));
  // git removes and writes here, not we: it refuses to go through a link that the candidate may have put in place of a folder.
  if (gone.length > 0) await git.run(['rm', '-q', '-r', '-f', '--ignore-unmatch', ...fromPath], { input: listed(gone) });
  if (there.size > 0) await git.run(['checkout', '-q', pin.from, ...fromPath], { input: listed([...there]) });
};

// Objects that a partial clone has not fetched yet cannot be read through a copy, which has no remote to ask. The repository itself
// fetches them, in one go, when it compares the commit with nothing.
const fetchPromised = async (repository: Repository, commit: string): Promise<void> => {
  const git = createGit(repository.root);
  const empty = await git.line(['hash-object', '-t', 'tree', '--stdin']);
  await git.run(['diff-tree', '-r', '--numstat', '--no-renames', empty, commit, '--']);
};

/**
 * A fresh checkout of exactly one commit in a repository of its own: no remote, no branch, no ref, objects read from the user's.
 * @param request.dir made new; what stood there is removed
 */
export const makeCleanRoom = async (request: {
  readonly repository: Repository;
  readonly dir: string;
  readonly commit: CommitSha;
  readonly pin: Pin | undefined;
}): Promise<void> => {
  const { repository, dir, commit, pin } = request;
  await removeFolder(dir);
  try {
    const sourceDir = repository.commonDir;
    const settings = await readSettings(createGit(sourceDir, { gitDir: sourceDir }));
    if (settings.some(({ key }) => /^(?:remote\..*\.promisor|extensions\.partialclone)$/.test(key))) {
      await fetchPromised(repository, commit);
      if (pin !== undefined && pin.paths.length > 0) await fetchPromised(repository, pin.from);
    }
    const git = await makeDetachedCopy({ sourceDir, dir: path.resolve(dir), gitDir: undefined, settings });
    await git.run(['checkout', '-q', '--detach', '--force', commit]);
    if (pin !== undefined && pin.paths.length > 0) await putPinned(git, pin);
    await fillSubmodules(git, repository, { modulesDir: undefined, sparse: false });
  } catch (fault) {
    // A half-made room must not be taken for one.
    await removeFolder(dir);
    throw fault;
  }
};
