import { judgeCheck, type Judgement, type OwnProof } from './judge-check.ts';
import type { TaskProof } from './task.ts';
import type { CheckOnCandidate, FailureReason, GuardFinding, Verdict } from './verdict.ts';

export interface VerdictInput {
  readonly proof: TaskProof;
  readonly guards: readonly GuardFinding[];
  readonly checks: readonly CheckOnCandidate[];
  /** Facts to show with any verdict: files left out, what the agent did besides. */
  readonly notes: readonly string[];
}

const kindOfGuard: Readonly<Record<GuardFinding['guard'], FailureReason['kind']>> = {
  'protected-file': 'cheat',
  'gate-definition': 'cheat',
  'checkout-changed': 'cheat',
  'moved-refs': 'cheat',
  'unfinished-git-operation': 'unfinished',
  'empty-change': 'empty-change',
};

/** These kinds are certain whatever else could not be judged. */
const certain: ReadonlySet<FailureReason['kind']> = new Set(['cheat', 'empty-change', 'unfinished']);

const ownProofOf = (proof: TaskProof, command: string): OwnProof => {
  if (proof.by === 'checks' || proof.command !== command) return undefined;
  return proof.by === 'test' ? { by: 'test', test: proof.test } : { by: 'command' };
};

/**
 * Joins the run as committed with the pinned one. What is red with the base's tests and gates and not red as committed was made green by
 * changing them: a cheat. Where the run as committed could not be judged, nothing was green, and the pinned failure is a plain one.
 */
const joinPinned = (committed: Judgement, pinned: Judgement, files: readonly string[]): Judgement => {
  const known = new Set(committed.reasons.flatMap((reason) => reason.failing));
  const setup = `with ${files.join(', ')} as on base`;
  const hidden = pinned.reasons
    .filter((reason) => reason.failing.some((id) => !known.has(id)))
    .map((reason): FailureReason => {
      if (committed.blocked) return { ...reason, sentence: `${reason.sentence} (Run ${setup}.)` };
      return {
        ...reason,
        kind: 'cheat',
        sentence: `Green only with the candidate's own tests or check definition; ${setup}: ${reason.sentence}`,
      };
    });
  return {
    reasons: [...committed.reasons, ...hidden],
    why: [
      ...new Set([...committed.why, ...pinned.why.filter((why) => !committed.why.includes(why)).map((why) => `${why} (Run ${setup}.)`)]),
    ],
    notes: [...new Set([...committed.notes, ...pinned.notes])],
    blocked: committed.blocked || pinned.blocked,
    informative: committed.informative && pinned.informative,
  };
};

const judge = (check: CheckOnCandidate, proof: TaskProof): Judgement => {
  const { name, base } = check;
  const own = ownProofOf(proof, check.command);
  const committed = judgeCheck({ name, base, observation: check.candidate, own });
  if (check.pinned === undefined) return committed;
  return joinPinned(committed, judgeCheck({ name, base, observation: check.pinned, own }), check.pinnedFiles);
};

/** Weaknesses of runs that count all the same, e.g. a shell without `pipefail`. */
const weaknesses = (checks: readonly CheckOnCandidate[]): readonly string[] =>
  checks.flatMap((check) =>
    [...check.base.runs, check.candidate, ...(check.pinned === undefined ? [] : [check.pinned])]
      .filter((run) => run.end === 'ran' && run.problem !== '')
      .map((run) => `Check "${check.name}": ${run.problem}`),
  );

/**
 * The verdict on one candidate from all that was observed (L1, L2, L3). Pure: equal input, equal verdict.
 *
 * A cheat, an empty change or an unfinished git operation fails. Else anything that could not be judged makes it inconclusive, with the
 * failures seen so far listed. Else any failure fails. Only what is left passes.
 */
export const decideVerdict = ({ proof, guards, checks, notes }: VerdictInput): Verdict => {
  const judgements = checks.map((check) => judge(check, proof));
  const reasons: FailureReason[] = [
    ...guards
      .filter((finding) => finding.weight === 'refuse')
      .map((finding) => ({
        kind: kindOfGuard[finding.guard],
        sentence: finding.sentence,
        failing: [],
        evidence: finding.paths.join('\n'),
      })),
    ...judgements.flatMap((judgement) => judgement.reasons),
  ];
  const why = judgements.flatMap((judgement) => judgement.why);
  if (checks.length === 0) why.push('No check is defined, so nothing was judged.');
  else if (proof.by !== 'checks' && !checks.some((check) => check.command === proof.command))
    why.push(`The task's own command was not run: ${proof.command}`);
  else if (why.length === 0 && reasons.length === 0 && !judgements.some((judgement) => judgement.informative))
    why.push('No check was green on the candidate; all are red on base too, so nothing speaks for the change.');

  const allNotes = [
    ...new Set([
      ...notes,
      ...guards.filter((finding) => finding.weight === 'note').map((finding) => finding.sentence),
      ...judgements.flatMap((judgement) => judgement.notes),
      ...weaknesses(checks),
    ]),
  ];
  if (reasons.some((reason) => certain.has(reason.kind))) return { verdict: 'fail', reasons, notes: [...allNotes, ...why] };
  if (why.length > 0) return { verdict: 'inconclusive', why, reasons, notes: allNotes };
  if (reasons.length > 0) return { verdict: 'fail', reasons, notes: allNotes };
  return { verdict: 'pass', notes: allNotes };
};
