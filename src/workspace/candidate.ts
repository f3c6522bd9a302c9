import { commitSha, type CommitSha } from '../core/ids.ts';
import { Fault } from '../core/fault.ts';
import { tracesOf, unfinishedIn } from './agent-traces.ts';
import type { Git } from './git.ts';
import { identityOf } from './identity.ts';
import type { Places } from './places.ts';
import { readOpening } from './places.ts';
import type { Candidate, Repository } from './port.ts';
import { listRefs, readFacts, readRef, runRef, updateRefs, writeFacts, type RefUpdate } from './refs.ts';
import { snapshot } from './snapshot.ts';
import { pathsBetween, rememberTree, treeOf } from './tree-reading.ts';
import { linkedWorktree } from './worktree-link.ts';

/** What a commit alone does not tell; kept beside it so that a second call gives the same candidate. */
type Facts = Pick<Candidate, 'leftOut' | 'unfinished' | 'agentCommits' | 'movedRefs' | 'notes'>;

/** The candidate of an attempt as it was committed, if it was. */
export const readCandidate = async (
  git: Git,
  attempt: { readonly run: string; readonly number: number; readonly base: CommitSha },
): Promise<Candidate | undefined> => {
  const { run, number, base } = attempt;
  const commit = await readRef(git, runRef(run, `a${number}`));
  if (commit === undefined) return undefined;
  const facts = (await readFacts(git, runRef(run, `a${number}-facts`))) as Facts;
  return { ...facts, commit: commitSha(commit), tree: await treeOf(git, commit), base, changed: await pathsBetween(git, base, commit) };
};

/** The commit of the last attempt of a run that has one, and where the agent's own HEAD stood then. */
export const lastCandidate = async (
  git: Git,
  run: string,
): Promise<{ readonly commit: string; readonly head: string | undefined } | undefined> => {
  const refs = await listRefs(git, runRef(run, '').replace(/\/$/, ''));
  const numbers = [...refs.keys()].flatMap((ref) => /\/a(\d+)$/.exec(ref)?.[1] ?? []).map(Number);
  if (numbers.length === 0) return undefined;
  const name = `a${Math.max(...numbers)}`;
  const commit = refs.get(runRef(run, name));
  return commit === undefined ? undefined : { commit, head: refs.get(runRef(run, `${name}-head`)) };
};

/** Commits what stands in the workspace of a run as one commit on base, and names it together with all that was seen. */
export const commitCandidate = async (request: {
  readonly git: Git;
  readonly repository: Repository;
  readonly places: Places;
  readonly run: string;
  readonly number: number;
  readonly base: CommitSha;
  readonly message: string;
  readonly nowMs: number;
}): Promise<Candidate> => {
  const { git, places, run, number, base } = request;
  const earlier = await readCandidate(git, request);
  if (earlier !== undefined) return earlier;
  const worktree = await linkedWorktree(request.repository, places.worktree(run));
  const opening = await readOpening(places.record(run));
  const unfinished = await unfinishedIn(worktree.admin);
  const traces = await tracesOf(worktree, base, opening === undefined ? undefined : new Map(Object.entries(opening.refs)));
  const shot = await snapshot({ worktree, base, indexFile: places.index(run), modulesDir: places.modules(run), keepLarge: false });
  // The folder may have gone while it was read; what was read then is not the agent's work.
  await linkedWorktree(request.repository, worktree.dir);

  const env = await identityOf(git, request.nowMs / 1000);
  const commit = await git.line(['commit-tree', '--no-gpg-sign', '-p', base, '-F', '-', shot.tree], { env, input: `${request.message}\n` });
  rememberTree(commit, shot.tree);
  const facts: Facts = {
    leftOut: shot.leftOut.map(({ path, why }) => ({ path, why })),
    unfinished,
    agentCommits: traces.agentCommits,
    movedRefs: traces.movedRefs,
    notes: [...traces.notes, ...shot.notes],
  };
  const name = runRef(run, `a${number}`);
  const beside: RefUpdate[] = [
    { ref: name, to: 'as-it-is', from: 'absent' },
    { ref: `${name}-facts`, to: await writeFacts(git, facts), from: 'any' },
    ...(traces.head === base ? [] : [{ ref: `${name}-head`, to: traces.head, from: 'any' }]),
    ...traces.left.map((tip, at) => ({ ref: `${name}-left${at + 1}`, to: tip, from: 'any' })),
  ];
  try {
    await updateRefs(git, [beside, [{ ref: name, to: commit, from: 'absent' }]], env);
  } catch (fault) {
    // Another call for the same attempt was faster: its candidate stands.
    const first = fault instanceof Fault ? await readCandidate(git, request) : undefined;
    if (first === undefined) throw fault;
    return first;
  }
  return { ...facts, commit: commitSha(commit), tree: shot.tree, base, changed: await pathsBetween(git, base, commit) };
};
