import { Rejection } from '../core/fault.ts';
import { commitSha, type CommitSha } from '../core/ids.ts';
import { createGit, type Git } from './git.ts';
import type { Repository } from './port.ts';
import { readRef } from './refs.ts';

const branchesNamed = 12;

const commitOf = async (git: Git, revision: string): Promise<CommitSha | undefined> => {
  const { code, bytes } = await git.run(['rev-parse', '--verify', '-q', '--end-of-options', `${revision}^{commit}`], { allow: [1, 128] });
  return code === 0 ? commitSha(bytes.toString('utf8').trim()) : undefined;
};

const branchNames = async (git: Git): Promise<string> => {
  const out = await git.line(['for-each-ref', `--count=${branchesNamed}`, '--format=%(refname:short)', '--', 'refs/heads', 'refs/remotes']);
  return out === '' ? 'there is none' : out.split('\n').join(', ');
};

/**
 * The commit a run starts from. No branch name is assumed: without a target it is what HEAD names.
 * @param target short name of a branch: the local one, else the one of `origin`
 * @throws Rejection that names the branches there are
 */
export const resolveBase = async (repository: Repository, target: string | undefined): Promise<CommitSha> => {
  const git = createGit(repository.root);
  if (target === undefined) {
    const head = await commitOf(git, 'HEAD');
    if (head !== undefined) return head;
    throw new Rejection(`HEAD of ${repository.root} names no commit. Branches: ${await branchNames(git)}.`, {
      hint: 'Check out a branch that has a commit, or name one as the target.',
    });
  }
  for (const ref of [`refs/heads/${target}`, `refs/remotes/origin/${target}`]) {
    // The ref must exist under exactly this name: `main~3` or `-x` is no branch.
    const object = await readRef(git, ref);
    const commit = object === undefined ? undefined : await commitOf(git, object);
    if (commit !== undefined) return commit;
  }
  throw new Rejection(`There is no branch ${JSON.stringify(target)} here or on origin. Branches: ${await branchNames(git)}.`, {
    hint: 'Name one of these as the target.',
  });
};
