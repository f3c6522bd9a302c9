// One attempt: isolate, let the agent work, take what it left, judge it. Every effect is a step under `a<n>/...`.
import { createHash } from 'node:crypto';
import { attemptRecordOf } from '../core/attempt-record.ts';
import type { AgentRunResult } from '../core/agent-result.ts';
import { Fault } from '../core/fault.ts';
import type { Task } from '../core/task.ts';
import type { AttemptRecord } from '../core/stop.ts';
import { cutMiddle } from '../core/text.ts';
import type { GuardFinding, Verdict } from '../core/verdict.ts';
import type { RunContext } from '../journal/index.ts';
import type { RunProcess } from '../verify/index.ts';
import type { Candidate, GitSetup } from '../workspace/index.ts';
import { blockedBy, outcomeText } from './agent-outcome.ts';
import { runAgent } from './agent-session.ts';
import { composePrompt } from './compose-prompt.ts';
import { keep } from './keep.ts';
import type { AttemptView, LoopParts, RunInput, RunNow, TickEvent } from './port.ts';
import { restoreTaskList } from './task-list.ts';

export interface AttemptRequest {
  readonly parts: LoopParts;
  readonly context: RunContext;
  readonly input: RunInput;
  /** The whole task, its texts uncut. */
  readonly task: Task;
  readonly attempt: number;
  readonly earlier: readonly AttemptView[];
  /** As it was before the first attempt of this stretch. */
  readonly gitSetup: GitSetup;
  /** What is left of the run's time. */
  readonly remainingMs: number;
  readonly report: (event: TickEvent) => void;
}

/** Processes of one performance of a step: after a crash they run again under a new key, in a new clean room. */
export const processesOf =
  (context: RunContext, scope: string): RunProcess =>
  (key, spec) =>
    context.spawn(`${scope}/${key}`, spec);

export const performAttempt = async (request: AttemptRequest): Promise<AttemptView> => {
  const { parts, context, input, task, attempt, report } = request;
  const { loop, base, prefix } = input;
  const run = context.run.id;
  const scope = `a${attempt}`;
  const agent = parts.agentFor(loop, prefix);
  const startedAt = await context.now(`${scope}/started`);
  report({ event: 'attempt-started', run, attempt, agent: agent.label });

  const at = (stage: RunNow['stage']): void => context.set('now', { attempt, stage, generation: context.run.generation } satisfies RunNow);
  at('set-up');
  const workspace = await openWorkspace(request);
  await setUp(request, workspace.dir);
  const prompt = await composePrompt(request);
  const before = await keep(request, `${scope}/checkout-before`, () => parts.fingerprint());
  at('agent');
  const session = await runAgent({ ...request, agent, dir: workspace.dir, promptFile: parts.evidence.path(prompt.hash) });
  report({
    event: 'agent-ended',
    run,
    attempt,
    outcome: outcomeText(session.result),
    spend: session.spend,
    noModel: session.usageSource === 'no-model',
  });
  at('verdict');

  const seen = { startedAt, prompt: prompt.hash, agent: trimmed(session) };
  let candidate: Candidate;
  try {
    candidate = await keep(request, `${scope}/candidate`, async () => {
      const notes = await restoreTaskList({ parts, task, base, prefix, dir: workspace.dir });
      const left = await parts.workspaces.commit(run, attempt, base, `Attempt ${attempt} at: ${task.title}`);
      return { ...left, notes: [...left.notes, ...notes] };
    });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'WORKSPACE_MISSING') throw error;
    return await lostAttempt(request, session, { ...seen, why: error.message });
  }

  const judged = await keep(request, `${scope}/verdict`, async (step) => {
    const changes = parts.differences(before, await parts.fingerprint());
    const { record, evidence } = await parts.verifier.verify({
      run,
      attempt,
      task,
      candidate,
      checks: loop.verify,
      protect: loop.protect,
      prefix,
      setup: loop.workspace.setup,
      setupTimeoutMs: loop.workspace.setupTimeoutMs,
      share: loop.workspace.share ?? [],
      findings: [
        ...checkoutFindings(changes, candidate),
        ...setupFindings(parts.gitSetupChanges(request.gitSetup, await parts.gitSetup())),
      ],
      process: processesOf(context, `${scope}/check/p${step.performance}`),
      signal: context.signal,
    });
    const agentEnd = { outcome: outcomeText(session.result), blocked: blockedBy(session.result) };
    return { evidence, verdict: record.verdict, record: attemptRecordOf({ record, agent: agentEnd, spend: session.spend }) };
  });
  const record = bounded(judged.record);
  await context.record(`${scope}/verdict-given`, 'verdict.given', {
    attempt,
    verdict: judged.verdict.verdict,
    summary: record.summary,
    candidate: candidate.commit,
    evidence: judged.evidence,
  });
  report({ event: 'verdict', run, attempt, verdict: judged.verdict, summary: record.summary });
  const endedAt = await context.now(`${scope}/ended`);
  return { ...seen, record, candidate: candidate.commit, evidence: judged.evidence, verdict: shortened(judged.verdict), endedAt };
};

/** A recorded folder may be gone when a person opens the run again: an ended run's workspace can be freed. Opening one that is there is free. */
const openWorkspace = async ({ parts, context, input, attempt }: AttemptRequest): Promise<{ readonly dir: string }> => {
  const { id, generation } = context.run;
  const open = (key: string): Promise<{ readonly dir: string }> => context.step(key, {}, () => parts.workspaces.open(id, input.base));
  const opened = await open(`a${attempt}/workspace`);
  return generation > 1 && attempt === input.firstAttempt ? await open(`a${attempt}/workspace/g${generation}`) : opened;
};

const setUp = async (request: AttemptRequest, dir: string): Promise<void> => {
  const { parts, context, input, attempt } = request;
  const { setup: command, setupTimeoutMs: timeoutMs, share = [] } = input.loop.workspace;
  const { generation } = context.run;
  // Once a stretch: one that a person opened may have had to build the workspace again.
  if (command === undefined || attempt !== input.firstAttempt) return;
  const key = `a${attempt}/setup/g${generation}`;
  await context.step(key, {}, async (step) => {
    const spec = parts.setupSpec({ dir, prefix: input.prefix, command, timeoutMs, marker: context.run.id });
    const run = async (): Promise<true> => {
      const result = await context.spawn(`${key}/p${step.performance}`, spec);
      if (result.end === 'exited' && result.exitCode === 0) return true;
      const tail = (await parts.readFileBytes(result.stderr.path)).toString('utf8').slice(-400);
      throw new Fault('SETUP_FAILED', `The set-up command \`${command}\` failed (${result.end}, exit ${result.exitCode}). ${tail}`.trim(), {
        hint: 'Run it by hand in a fresh checkout, then correct workspace.setup in the loop file.',
      });
    };
    const place = { dir, prefix: input.prefix, command, env: spec.env, folders: share };
    // A later stretch may find in the folder what an agent left there.
    const mayKeep = attempt === 1 && generation === 1;
    if (share.length > 0 && parts.dependencies !== undefined) return await parts.dependencies.provide({ ...place, mayKeep }, run);
    await run();
    return null;
  });
};

/** Views of all attempts share one journal entry: what may grow is hashed or cut there; the evidence has it whole. */
const namesInView = 50;
const lettersInView = 2_000;

const bounded = (record: AttemptRecord): AttemptRecord => ({
  ...record,
  failing: record.failing.slice(0, namesInView),
  fingerprint: createHash('sha256')
    .update(`${record.failing.join('\n')}\n${record.fingerprint}`)
    .digest('hex'),
});

const shortened = (verdict: Verdict): Verdict => {
  const notes = verdict.notes.slice(0, namesInView);
  if (verdict.verdict === 'pass') return { ...verdict, notes };
  const reasons = verdict.reasons.slice(0, 3).map((reason) => ({
    ...reason,
    failing: reason.failing.slice(0, namesInView),
    evidence: cutMiddle(reason.evidence, lettersInView * 4),
  }));
  return verdict.verdict === 'fail' ? { ...verdict, reasons, notes } : { ...verdict, reasons, notes, why: verdict.why.slice(0, 10) };
};

const trimmed = (session: AgentRunResult): AttemptView['agent'] => ({
  agent: session.agent,
  session: session.session,
  result: session.result,
  process: session.process,
  usage: session.usage,
  spend: session.spend,
  text: session.text.slice(0, lettersInView),
  stdout: session.stdout,
  stderr: session.stderr,
  usageSource: session.usageSource,
  retries: session.retries,
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

/** A filter may show the checks other bytes than those committed, and a hook runs in the user's name: a person has to look first. */
const setupFindings = (changes: readonly string[]): readonly GuardFinding[] => {
  if (changes.length === 0) return [];
  const named = changes.slice(0, 5).join(', ') + (changes.length > 5 ? ` and ${changes.length - 5} more` : '');
  const sentence = `How git behaves in your repository was changed while the agent worked: ${named}. Look at it, put it back, then retry.`;
  return [{ guard: 'checkout-changed', weight: 'refuse', paths: changes, sentence }];
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
    failure: '',
    summary: why,
    spend: session.spend,
    agentOutcome: outcomeText(session.result),
    blocked: why,
  };
  const verdict: Verdict = { verdict: 'inconclusive', why: [why], reasons: [], notes: [] };
  await context.record(`a${attempt}/verdict-given`, 'verdict.given', { attempt, verdict: 'inconclusive', summary: why });
  report({ event: 'verdict', run: context.run.id, attempt, verdict, summary: why });
  const endedAt = await context.now(`a${attempt}/ended`);
  return { ...rest, record, candidate: undefined, evidence: undefined, verdict, endedAt };
};
