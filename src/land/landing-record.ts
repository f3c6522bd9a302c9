import { commitSha, type CommitSha } from '../core/ids.ts';
import { readFacts, readRef, runRef, updateRefs, writeFacts, type Git, type RefUpdate } from '../workspace/index.ts';
import { isAncestor } from './combine.ts';
import type { Landed } from './port.ts';

// A landing is written down before a branch moves and marked as done after it, so that a kill at any point leaves something to look at:
//   refs/gyre/runs/<run>/landing       the commit that is to land
//   refs/gyre/runs/<run>/landed-facts  blob: the outcome as JSON
//   refs/gyre/runs/<run>/landed        the commit that has landed
// With `landing` and no `landed`, the branch itself tells which it is: it has the commit or it does not.

export type Landing = Exclude<Landed, { readonly landed: 'no' }>;

/** The local branch that a landing moves. */
const branchOf = (landing: Landing): string | undefined =>
  landing.landed === 'branch' ? `refs/heads/${landing.branch}` : landing.landed === 'merge' ? `refs/heads/${landing.target}` : undefined;

const doneGroup = (run: string, commit: CommitSha): readonly RefUpdate[] => [{ ref: runRef(run, 'landed'), to: commit, from: 'absent' }];

/**
 * Moves the branch of a landing (none for report, patch and pull request) and records it.
 * @param record.from what the branch has to be: a commit, or `absent`
 * @throws Fault `GIT_FAILED` when it moved meanwhile, or the run has landed already
 */
export const recordLanding = async (
  git: Git,
  record: {
    readonly run: string;
    readonly landing: Landing;
    readonly from?: string;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<void> => {
  const { run, landing } = record;
  const plan: readonly RefUpdate[] = [
    { ref: runRef(run, 'landed'), to: 'as-it-is', from: 'absent' },
    { ref: runRef(run, 'landing'), to: landing.commit, from: 'any' },
    { ref: runRef(run, 'landed-facts'), to: await writeFacts(git, landing), from: 'any' },
  ];
  const branch = branchOf(landing);
  const moves = branch === undefined ? [] : [{ ref: branch, to: landing.commit, from: record.from ?? 'absent' }];
  await updateRefs(git, [plan, moves, doneGroup(run, landing.commit)], record.env);
};

/** A landing that was cut after its branch had moved: it stands, and is marked as done now. */
const finishLanding = async (git: Git, run: string): Promise<Landing | undefined> => {
  const planned = await readRef(git, runRef(run, 'landing'));
  const facts = planned === undefined ? undefined : ((await readFacts(git, runRef(run, 'landed-facts'))) as Landing | undefined);
  // Of a plan that was cut while it was written, nothing has happened yet.
  if (planned === undefined || facts?.commit !== planned) return undefined;
  const branch = branchOf(facts);
  if (branch === undefined || (await readRef(git, branch)) === undefined || !(await isAncestor(git, planned, branch))) return undefined;
  await updateRefs(git, [doneGroup(run, facts.commit)]);
  return facts;
};

/** The landing of a run, if it has landed; one that a kill has cut is looked up where it was to land. */
export const readLanding = async (git: Git, run: string): Promise<Landing | undefined> => {
  const commit = await readRef(git, runRef(run, 'landed'));
  if (commit === undefined) return finishLanding(git, run);
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
  await updateRefs(git, [[{ ref: runRef(run, 'kept'), to: candidate, from: 'any' }]]);
  return runRef(run, 'kept');
};
