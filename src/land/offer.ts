import { commitSha, type CommitSha } from '../core/ids.ts';
import { readFacts, readRef, runRef, updateRefs, writeFacts, type Git } from '../workspace/index.ts';

// What a run is about to offer outside, written down before: after a crash the same commit goes to the same branch, so that what is there
// already is found. A signed commit made again would be another one. refs/gyre/runs/<run>/offer names the commit, `offer-facts` the rest.

export interface Offer {
  readonly commit: CommitSha;
  readonly candidate: CommitSha;
  /** Short names, both on `origin`. */
  readonly branch: string;
  readonly target: string;
}

export const writeOffer = async (git: Git, run: string, offer: Offer): Promise<void> => {
  const facts = await writeFacts(git, offer);
  await updateRefs(git, [
    [{ ref: runRef(run, 'offer-facts'), to: facts, from: 'any' }],
    [{ ref: runRef(run, 'offer'), to: offer.commit, from: 'any' }],
  ]);
};

/** The offer of this candidate; one of an earlier candidate of the run does not count. */
export const readOffer = async (git: Git, run: string, candidate: CommitSha): Promise<Offer | undefined> => {
  const commit = await readRef(git, runRef(run, 'offer'));
  if (commit === undefined) return undefined;
  const offer = (await readFacts(git, runRef(run, 'offer-facts'))) as Offer;
  return offer.candidate === candidate ? { ...offer, commit: commitSha(commit) } : undefined;
};
