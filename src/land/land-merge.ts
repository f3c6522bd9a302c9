import { Fault } from '../core/fault.ts';
import { commitSha, type CommitSha } from '../core/ids.ts';
import { listWorktrees, readRef, treeOf, type Git } from '../workspace/index.ts';
import { combine, isAncestor } from './combine.ts';
import { makeLandingCommit, type LandingCommit } from './landing-commit.ts';
import { landingMessage } from './landing-message.ts';
import { readLanding, recordLanding, type Landing } from './landing-record.ts';
import type { LandRequest } from './port.ts';

const triesMax = 3;
const filesNamed = 20;

type Step = { readonly why: string } | { readonly commit: CommitSha; readonly env: Readonly<Record<string, string>> };

const fromCommit = (made: LandingCommit): Step => (made.made ? made : { why: made.why });

/** The commit to land on a target that has moved on: judged as it will stand there (MRG-03), a commit on the tip. */
const combinedCommit = async (
  git: Git,
  request: LandRequest,
  place: { readonly tip: CommitSha; readonly target: string; readonly signLimitMs: number },
): Promise<Step> => {
  const { tip, target, signLimitMs } = place;
  const merged = await combine(git, tip, request.candidate);
  if (!merged.combined) {
    const named = merged.conflicts.slice(0, filesNamed).map((file) => JSON.stringify(file));
    return {
      why: `The change conflicts with what reached ${target} meanwhile, in ${merged.conflicts.length} file(s): ${named.join(', ')}.`,
    };
  }
  if (merged.tree === (await treeOf(git, tip)))
    return { why: `Everything in the change is on ${target} already, so there is nothing to land.` };
  const wanted = { tree: merged.tree, parent: tip, candidate: request.candidate, signLimitMs };
  const judged = await makeLandingCommit(git, { ...wanted, message: landingMessage(request), sign: 'never' });
  if (!judged.made) return { why: judged.why };
  const verdict = await request.verifyCombined(judged.commit, tip);
  if (!verdict.pass) return { why: `Together with what reached ${target} meanwhile the change does not pass: ${verdict.why}` };
  // The same tree on the same parent, with the evidence of the combination instead of that of the change alone.
  return fromCommit(
    await makeLandingCommit(git, { ...wanted, message: landingMessage({ ...request, evidence: verdict.evidence }), sign: request.sign }),
  );
};

const nextStep = async (
  git: Git,
  request: LandRequest,
  place: { readonly tip: CommitSha; readonly target: string; readonly signLimitMs: number },
): Promise<Step> => {
  const { tip, target, signLimitMs } = place;
  if (tip !== request.base && !(await isAncestor(git, request.base, tip))) {
    return { why: `${target} (at ${tip}) does not contain the commit ${request.base} that the run started from.` };
  }
  if (tip !== request.base) return combinedCommit(git, request, place);
  const tree = await treeOf(git, request.candidate);
  const wanted = { tree, parent: tip, candidate: request.candidate, message: landingMessage(request), sign: request.sign, signLimitMs };
  return fromCommit(await makeLandingCommit(git, wanted));
};

/**
 * Moves a local branch to base (or its tip) plus the change, by compare-and-swap and without a checkout. A target that somebody has
 * checked out is not moved: their files would then differ from their HEAD (L6).
 */
export const landMerge = async (
  git: Git,
  request: LandRequest,
  options: { readonly ref: string; readonly signLimitMs: number },
): Promise<Landing | { readonly why: string }> => {
  const { target } = request;
  if (target === undefined) return { why: 'No target branch is given for a merge.' };
  const ref = `refs/heads/${target}`;
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const found = await readRef(git, ref);
    if (found === undefined) return { why: `There is no local branch ${target}.` };
    const tip = commitSha(found);
    const holder = (await listWorktrees(git)).find((tree) => tree.branch === ref);
    if (holder !== undefined) {
      return {
        why: `${target} is checked out in ${holder.dir}, and moving it would change what stands there. Bring it in by hand: git -C ${JSON.stringify(holder.dir)} merge ${options.ref}`,
      };
    }
    const step = await nextStep(git, request, { tip, target, signLimitMs: options.signLimitMs });
    if ('why' in step) return step;
    const landing: Landing = { landed: 'merge', target, commit: step.commit };
    try {
      await recordLanding(git, { run: request.run, landing, from: tip, env: step.env });
      return landing;
    } catch (fault) {
      const earlier = await readLanding(git, request.run);
      if (earlier !== undefined) return earlier;
      if (!(fault instanceof Fault) || fault.code !== 'GIT_FAILED' || (await readRef(git, ref)) === tip) throw fault;
    }
  }
  return { why: `${target} moved ${triesMax} times while the change was being landed.` };
};
