import type { EvidenceHash } from '../core/ids.ts';
import { contextOverflow } from '../core/stop.ts';
import { cutMiddle } from '../core/text.ts';
import type { Verdict } from '../core/verdict.ts';
import type { AttemptRequest } from './attempt.ts';
import type { AttemptView, PreviousAttempt } from './port.ts';

/** Letters of evidence in a prompt; every "does not fit" answer of the agent quarters it. */
const evidenceLettersMax = 8_000;

/** Writes the prompt of an attempt into the evidence store, from where the agent reads it; the journal keeps its hash. */
export const composePrompt = async (request: AttemptRequest): Promise<{ readonly hash: EvidenceHash; readonly bytes: number }> => {
  const { parts, context, input, task, attempt, earlier } = request;
  const overflows = earlier.filter((view) => view.record.agentOutcome === contextOverflow).length;
  const letters = Math.floor(evidenceLettersMax / 4 ** overflows);
  const last = earlier.at(-1);
  // After an overflow the story of the last attempt goes first: it says nothing but "too long".
  const previous = last === undefined || last.record.agentOutcome === contextOverflow ? undefined : previousOf(last, letters);
  // What is cut only when it did not fit: a task's own text is otherwise given whole.
  const fitted = {
    ...task,
    evidence: cutMiddle(task.evidence, letters),
    body: overflows === 0 ? task.body : cutMiddle(task.body, letters),
  };
  return await context.step(`a${attempt}/prompt`, {}, async () => {
    const text = parts.promptFor({
      definition: input.loop,
      task: fitted,
      attempt,
      previous,
      tried: overflows === 0 ? (input.tried ?? '') : '',
    });
    return { hash: await parts.evidence.put(text), bytes: Buffer.byteLength(text) };
  });
};

const previousOf = ({ record, verdict }: AttemptView, letters: number): PreviousAttempt | undefined => {
  if (verdict === undefined) return undefined;
  const cut: Verdict =
    verdict.verdict === 'pass'
      ? verdict
      : { ...verdict, reasons: verdict.reasons.map((reason) => ({ ...reason, evidence: cutMiddle(reason.evidence, letters) })) };
  return { summary: record.summary, verdict: cut };
};
