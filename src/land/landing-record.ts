import { commitSha, type CommitSha } from '../core/ids.ts';
import { readFacts, readRef, runRef, updateRefs, writeFacts, type Git, type RefUpdate } from '../workspace/index.ts';
import type { Landed } from './port.ts';

// A landing and the record of it are one transaction over refs: there is no moment at which a branch has moved and nothing says who
// moved it. refs/gyre/runs/<run>/landed names the commit, refs/gyre/runs/<run>/landed-facts a blob with the outcome as JSON.

export type Landing = Exclude<Landed, { readonly landed: 'no' }>;

/** Moves the refs of a landing (none for report and patch) and records it. @throws Fault `GIT_FAILED` when a ref moved meanwhile */
export const recordLanding = async (
  git: Git,
  record: {
    readonly run: string;
    readonly landing: Landing;
    readonly moves: readonly RefUpdate[];
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<void> => {
  const facts = await writeFacts(git, record.landing);
  await updateRefs(
    git,
    [
      ...record.moves,
      { ref: runRef(record.run, 'landed'), to: record.landing.commit, from: 'absent' },
      { ref: runRef(record.run, 'landed-facts'), to: facts, from: 'any' },
    ],
    record.env,
  );
};

export const readLanding = async (git: Git, run: string): Promise<Landing | undefined> => {
  const commit = await readRef(git, runRef(run, 'landed'));
  if (commit === undefined) return undefined;
  return { ...((await readFacts(git, runRef(run, 'landed-facts'))) as Landing), commit: commitSha(commit) };
};

/** The ref under which work stays that is not landed; made if none names it yet. */
export const keptRef = async (git: Git, run: string, candidate: CommitSha): Promise<string> => {
  const names = await git.line([
    'for-each-ref',
    `--points-at=${candidate}`,
    '--format=%(refname)',
    '--',
    runRef(run, 'a').replace(/\/a$/, ''),
  ]);
  const ref = names.split('\n').find((name) => /\/a\d+$/.test(name));
  if (ref !== undefined) return ref;
  await updateRefs(git, [{ ref: runRef(run, 'kept'), to: candidate, from: 'any' }]);
  return runRef(run, 'kept');
};
