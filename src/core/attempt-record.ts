import { normaliseFailure } from './fingerprint.ts';
import type { Spend } from './spend.ts';
import type { AttemptRecord } from './stop.ts';
import { oneLine } from './text.ts';
import type { FailureReason, Verdict, VerdictRecord } from './verdict.ts';

/** Letters of one normalised failure text that go into a fingerprint. The head alone: where a long text is cut moves with its timings. */
const fingerprintLetters = 2_000;
/** Letters of failure text shown to people beside a summary. */
const failureLetters = 300;
/** Longest summary, in letters. */
const summaryLetters = 400;

const reasonsOf = (verdict: Verdict): readonly FailureReason[] => (verdict.verdict === 'pass' ? [] : verdict.reasons);

const summaryOf = (verdict: Verdict): string => {
  if (verdict.verdict === 'pass') return 'All checks hold.';
  const sentences = verdict.verdict === 'fail' ? verdict.reasons.map((reason) => reason.sentence) : verdict.why;
  const more = sentences.length > 1 ? ` (and ${sentences.length - 1} more)` : '';
  return `${oneLine(sentences[0] ?? 'No reason was given.', summaryLetters)}${more}`;
};

/**
 * What stop rules need to know of a judged attempt. Pure.
 * @param input.agent how the session ended, in a word, and why it could not work at all (`undefined` when it could)
 */
export const attemptRecordOf = (input: {
  readonly record: VerdictRecord;
  readonly agent: { readonly outcome: string; readonly blocked: string | undefined };
  readonly spend: Spend;
}): AttemptRecord => {
  const { record, agent, spend } = input;
  const reasons = reasonsOf(record.verdict);
  const texts = reasons.map((reason) => `${reason.kind} ${reason.failing.join(' ')}\n${reason.evidence}`);
  const why = record.verdict.verdict === 'inconclusive' ? record.verdict.why : [];
  return {
    attempt: record.attempt,
    tree: record.tree,
    verdict: record.verdict.verdict,
    kinds: [...new Set(reasons.map((reason) => reason.kind))].toSorted(),
    failing: [...new Set(reasons.flatMap((reason) => reason.failing))].toSorted(),
    failure: oneLine(reasons.map((reason) => normaliseFailure(reason.evidence)).find((text) => text !== '') ?? '', failureLetters),
    fingerprint: [...texts, ...why].map((text) => normaliseFailure(text).slice(0, fingerprintLetters)).join('\n---\n'),
    summary: summaryOf(record.verdict),
    spend,
    agentOutcome: agent.outcome,
    blocked: agent.blocked,
  };
};
