import { access } from 'node:fs/promises';
import type { PullRequests } from '../connect/index.ts';
import type { CommitSha } from '../core/ids.ts';
import { pathsBetween, readRef, treeEntries, type Git } from '../workspace/index.ts';
import { isAncestor } from './combine.ts';
import type { Landed } from './port.ts';

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** Every path the commit changed stands on the tip as the commit left it: merged in another form (squashed with others, re-made). */
const sameContent = async (git: Git, commit: string, tip: string): Promise<boolean> => {
  const paths = await pathsBetween(git, `${commit}^`, commit);
  const states = async (at: string): Promise<string> =>
    JSON.stringify(
      (await treeEntries(git, at, paths)).filter((entry) => paths.includes(entry.path)).sort((a, b) => (a.path < b.path ? -1 : 1)),
    );
  return paths.length > 0 && (await states(commit)) === (await states(tip)) && (await states(tip)) !== (await states(`${commit}^`));
};

/** A commit of the target makes the same change (same patch id): rebased or cherry-picked. */
const samePatch = async (git: Git, commit: string, tip: string): Promise<boolean> => {
  const { code, bytes } = await git.run(['cherry', tip, commit, `${commit}^`], { allow: [128] });
  return code === 0 && bytes.toString('utf8').startsWith('- ');
};

const onTarget = async (git: Git, commit: string, tip: string): Promise<boolean> =>
  (await isAncestor(git, commit, tip)) || (await samePatch(git, commit, tip)) || (await sameContent(git, commit, tip));

/** Whether the thing that was delivered can still be taken. */
const stillOffered = async (git: Git, landed: Exclude<Landed, { readonly landed: 'pull-request' }>): Promise<boolean> => {
  switch (landed.landed) {
    case 'branch':
      return (await readRef(git, `refs/heads/${landed.branch}`)) !== undefined;
    case 'patch':
      return isThere(landed.file);
    case 'report':
      return (await git.run(['cat-file', '-e', landed.commit], { allow: [1, 128] })).code === 0;
    case 'no':
      return (await readRef(git, landed.ref)) !== undefined;
    case 'merge':
      // It was on the target and is not any more: somebody took it back.
      return false;
  }
};

/**
 * What has become of a delivered change, looked up on the target, on that of origin, and of a pull request where it was opened.
 * @param on `tip`: the commit the loop works from now; `target`: the branch it lands on, where it names one
 */
export const fateOf = async (
  git: Git,
  landed: Landed,
  on: { readonly tip: CommitSha | undefined; readonly target: string | undefined; readonly pullRequests: () => Promise<PullRequests> },
): Promise<'on-target' | 'waiting' | 'gone'> => {
  const commit = landed.landed === 'no' ? await readRef(git, landed.ref) : landed.commit;
  if (commit !== undefined) {
    const refs = on.target === undefined ? [] : [`refs/heads/${on.target}`, `refs/remotes/origin/${on.target}`];
    const tips = new Set([on.tip, ...(await Promise.all(refs.map((ref) => readRef(git, ref))))]);
    for (const tip of tips) if (tip !== undefined && (await onTarget(git, commit, tip))) return 'on-target';
  }
  if (landed.landed === 'pull-request') {
    // Merged there and not fetched here is on the target as well.
    const { state } = await (await on.pullRequests()).get(landed.number);
    return state === 'merged' ? 'on-target' : state === 'open' ? 'waiting' : 'gone';
  }
  return (await stillOffered(git, landed)) ? 'waiting' : 'gone';
};
