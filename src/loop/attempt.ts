// One attempt: isolate, let the agent work, take what it left, judge it. Every effect is a step under `a<n>/...`.
import { isEnvironmental, type AgentOutcome, type AgentRunResult } from '../core/agent-result.ts';
import { Fault } from '../core/fault.ts';
import type { EvidenceHash } from '../core/ids.ts';
import { contextOverflow, type AttemptRecord } from '../core/stop.ts';
import type { GuardFinding } from '../core/verdict.ts';
import { attemptRecordOf, type RunProcess } from '../verify/index.ts';
import type { Candidate } from '../workspace/index.ts';
import type { RunContext } from '../journal/index.ts';
import { runAgent } from './agent-session.ts';
import type { AttemptView, LoopParts, PreviousAttempt, RunInput, TickEvent } from './port.ts';

export interface AttemptRequest {
  readonly parts: LoopParts;
  readonly context: RunContext;
  readonly input: RunInput;
  readonly attempt: number;
  readonly earlier: readonly AttemptView[];
  /** What is left of the run's time. */
  readonly remainingMs: number;
  readonly report: (event: TickEvent) => void;
}

/** Checks belong to one life of the engine: after a crash they run again under a new key instead of trusting a half-seen result. */
export const checkProcess =
  (context: RunContext, scope: string): RunProcess =>
  (key, spec) =>
    context.spawn(`${scope}/e${context.run.epoch}/${key}`, spec);

export const performAttempt = async (request: AttemptRequest): Promise<AttemptView> => {
  const { parts, context, input, attempt, earlier, report } = request;
  const { loop, task, base, prefix } = input;
  const run = context.run.id;
  const scope = `a${attempt}`;
  const agent = parts.agentFor(loop);
  const startedAt = await context.now(`${scope}/started`);
  report({ event: 'attempt-started', run, attempt, agent: agent.label });

  const workspace = await context.step(`${scope}/workspace`, {}, () => parts.workspaces.open(run, base));
  await setUp(request, workspace.dir);
  const prompt = await composePrompt(request);
  const before = await context.step(`${scope}/checkout-before`, {}, () => parts.fingerprint());
  const session = await runAgent({ ...request, agent, dir: workspace.dir, promptFile: parts.evidence.path(prompt.hash) });
  report({ event: 'agent-ended', run, attempt, outcome: outcomeText(session.result), spend: session.spend });

  const seen = { startedAt, prompt: prompt.hash, agent: trimmed(session) };
  const blocked = blockedBy(session.result);
  let candidate: Candidate;
  try {
    candidate = await context.step(`${scope}/candidate`, {}, () =>
      parts.workspaces.commit(run, attempt, base, `Attempt ${attempt} at: ${task.title}`),
    );
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'WORKSPACE_MISSING') throw error;
    return await lostAttempt(request, session, { ...seen, why: error.message });
  }

  const findings = await context.step(`${scope}/findings`, {}, async () => {
    const changes = parts.differences(before, await parts.fingerprint());
    return checkoutFindings(changes, candidate);
  });
  const judged = await context.step(`${scope}/verdict`, {}, () =>
    parts.verifier.verify({
      run,
      attempt,
      task,
      candidate,
      checks: loop.verify,
      protect: loop.protect,
      prefix,
      setup: loop.workspace.setup,
      setupTimeoutMs: loop.workspace.setupTimeoutMs,
      findings,
      process: checkProcess(context, scope),
      signal: context.signal,
    }),
  );
  const record: AttemptRecord = {
    ...attemptRecordOf(judged.record, { agentOutcome: outcomeText(session.result), spend: session.spend }),
    blocked,
  };
  await context.record(`${scope}/verdict-given`, 'verdict.given', {
    attempt,
    verdict: judged.record.verdict.verdict,
    summary: record.summary,
    candidate: candidate.commit,
    evidence: judged.evidence,
  });
  report({ event: 'verdict', run, attempt, verdict: judged.record.verdict, summary: record.summary });
  const endedAt = await context.now(`${scope}/ended`);
  return { ...seen, record, candidate: candidate.commit, evidence: judged.evidence, verdict: judged.record.verdict, endedAt };
};

const setUp = async ({ parts, context, input, attempt, earlier }: AttemptRequest, dir: string): Promise<void> => {
  const command = input.loop.workspace.setup;
  if (command === undefined || (earlier.length > 0 && attempt !== input.firstAttempt)) return;
  const key = `a${attempt}/setup`;
  await context.step(key, {}, async () => {
    const spec = parts.setupSpec({
      dir,
      prefix: input.prefix,
      command,
      timeoutMs: input.loop.workspace.setupTimeoutMs,
      marker: context.run.id,
    });
    const result = await context.spawn(`${key}/e${context.run.epoch}`, spec);
    if (result.end === 'exited' && result.exitCode === 0) return null;
    const tail = (await parts.readFileBytes(result.stderr.path)).toString('utf8').slice(-400);
    throw new Fault('SETUP_FAILED', `The set-up command \`${command}\` failed (${result.end}, exit ${result.exitCode}). ${tail}`.trim(), {
      hint: 'Run it by hand in a fresh checkout, then correct workspace.setup in the loop file.',
    });
  });
};

/** Letters of evidence in the first prompt; every "does not fit" answer of the agent quarters it. */
const evidenceLettersMax = 8_000;

const composePrompt = async ({
  parts,
  context,
  input,
  attempt,
  earlier,
}: AttemptRequest): Promise<{ readonly hash: EvidenceHash; readonly bytes: number }> => {
  const overflows = earlier.filter((view) => view.record.agentOutcome === contextOverflow).length;
  const last = earlier.at(-1);
  // After an overflow the story of the last attempt is what has to go first: it says nothing but "too long".
  const previous = last === undefined || last.record.agentOutcome === contextOverflow ? undefined : previousOf(last);
  return await context.step(`a${attempt}/prompt`, {}, async () => {
    const text = parts.promptFor({
      definition: input.loop,
      task: input.task,
      attempt,
      previous,
      evidenceLetters: Math.floor(evidenceLettersMax / 4 ** overflows),
    });
    const hash = await parts.evidence.put(text);
    return { hash, bytes: Buffer.byteLength(text) };
  });
};

const previousOf = ({ record, verdict }: AttemptView): PreviousAttempt => ({
  attempt: record.attempt,
  summary: record.summary,
  reasons:
    verdict?.verdict === 'fail'
      ? verdict.reasons.map(({ sentence, evidence }) => ({ sentence, evidence }))
      : verdict?.verdict === 'inconclusive'
        ? verdict.why.map((sentence) => ({ sentence, evidence: '' }))
        : [],
});

export const outcomeText = (outcome: AgentOutcome): string => {
  switch (outcome.outcome) {
    case 'completed':
    case 'cancelled':
      return outcome.outcome;
    case 'failed':
      return outcome.error.class === 'context-overflow' ? contextOverflow : `failed: ${outcome.error.class}`;
    case 'timed-out':
      return `timed out: ${outcome.limit}`;
    case 'limit':
      return `limit: ${outcome.limit}`;
    case 'crashed':
      return 'crashed';
  }
};

/** The sentence that parks the run when the agent's surroundings, not the task, stand in the way. */
const blockedBy = (outcome: AgentOutcome): string | undefined =>
  outcome.outcome === 'failed' && isEnvironmental(outcome.error.class) ? `${outcome.error.class}: ${outcome.error.message}` : undefined;

const trimmed = (session: AgentRunResult): AttemptView['agent'] => ({
  agent: session.agent,
  result: session.result,
  process: session.process,
  spend: session.spend,
  text: session.text.slice(0, 2_000),
  stdout: session.stdout,
  stderr: session.stderr,
  usageSource: session.usageSource,
});

/** The user may well be editing while an agent works; that alone accuses nobody. An agent that changed nothing of its own while files
 * changed there is another matter. */
const checkoutFindings = (changes: readonly string[], candidate: Candidate): readonly GuardFinding[] => {
  if (changes.length === 0) return [];
  const empty = candidate.changed.length === 0;
  return [
    {
      guard: 'checkout-changed',
      weight: empty ? 'refuse' : 'note',
      paths: changes,
      sentence: `Your own checkout changed while the agent worked (${changes.slice(0, 5).join(', ')}${changes.length > 5 ? ', ...' : ''})${
        empty ? ' and its workspace did not: the agent may have worked in the wrong folder' : ''
      }.`,
    },
  ];
};

const lostAttempt = async (
  { context, attempt, report }: AttemptRequest,
  session: AgentRunResult,
  seen: Pick<AttemptView, 'startedAt' | 'prompt' | 'agent'> & { readonly why: string },
): Promise<AttemptView> => {
  const { why, ...rest } = seen;
  const record: AttemptRecord = {
    attempt,
    tree: '',
    verdict: 'inconclusive',
    kinds: [],
    failing: [],
    fingerprint: 'workspace missing',
    summary: why,
    spend: session.spend,
    agentOutcome: outcomeText(session.result),
    blocked: why,
  };
  const verdict = { verdict: 'inconclusive', why: [why], notes: [] } as const;
  await context.record(`a${attempt}/verdict-given`, 'verdict.given', { attempt, verdict: 'inconclusive', summary: why });
  report({ event: 'verdict', run: context.run.id, attempt, verdict, summary: why });
  const endedAt = await context.now(`a${attempt}/ended`);
  return { ...rest, record, candidate: undefined, evidence: undefined, verdict, endedAt };
};
