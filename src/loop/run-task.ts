// The spiral: attempts at one task, each with fresh context, until the verdict or a stop rule ends it. A run has exactly one exit.
import { assert } from '../core/fault.ts';
import type { EvidenceHash } from '../core/ids.ts';
import { decideNext } from '../core/stop.ts';
import type { RunExit } from '../core/exit.ts';
import type { Task } from '../core/task.ts';
import type { Wake } from '../dispatch/index.ts';
import type { LoopHandler, RunContext } from '../journal/index.ts';
import type { Landed } from '../land/index.ts';
import { processesOf, performAttempt } from './attempt.ts';
import { keep } from './keep.ts';
import { providerOf } from './provider.ts';
import type { AttemptView, LoopParts, RunInput, RunNow, RunOutput, TickEvent, TickReporter } from './port.ts';
import { attemptsOf, isCutSession, nowOf, spendOf, spentUnseen, taskHandler } from './run-record.ts';
import { publicWords, tellIssue } from './status-note.ts';

export const createTaskRun = (parts: LoopParts, reporter: TickReporter): LoopHandler => ({
  ...taskHandler,
  handle: async (context, raw) => {
    const input = raw as RunInput;
    const report = reporter(context);
    context.cleanup('sweep', async () => void (await parts.sweep(context.run.id)));
    const task = JSON.parse((await parts.evidence.get(input.taskText)).toString('utf8')) as Task;
    const note = { parts, context, input, task, report };
    await tellIssue(note, { moment: 'begun', state: 'An agent works on it.' });
    const output = await spiral({ parts, context, input, task, report });
    await tellIssue(note, { moment: 'ended', state: publicWords(output.exit, output.landed) });
    report({ event: 'run-ended', run: context.run.id, title: input.task.title, output });
    return output;
  },
});

interface Spiral {
  readonly parts: LoopParts;
  readonly context: RunContext;
  readonly input: RunInput;
  readonly task: Task;
  readonly report: (event: TickEvent) => void;
}

const silent = (): void => undefined;

const spiral = async ({ parts, context, input, task, report }: Spiral): Promise<RunOutput> => {
  const views: AttemptView[] = [];
  // What an earlier life of this run has told already is not told again while its steps are replayed.
  const row = parts.reader.run(context.run.id);
  const told = attemptsOf(row).length;
  // The session that an earlier stretch was cut off in is not adopted: what it spent will never be known (L8).
  const cut = row !== undefined && (nowOf(row)?.generation ?? 0) < context.run.generation && isCutSession(row);
  const unseen = cut || spentUnseen(row);
  if (unseen) context.set('spentUnseen', true);
  const policy = input.loop.stop;
  const opened = await context.now(`opened/${context.run.generation}`);
  const gitSetup = await keep({ parts, context }, `git-setup/${context.run.generation}`, () => parts.gitSetup());
  const full = await context.step(`room/${context.run.generation}`, {}, async () => (await parts.makeRoom?.(context.run.id)) ?? null);
  if (full !== null) {
    const exit = { exit: 'parked', why: full } as const;
    return { ...close(input, views, { exit, landed: undefined, unseen }), again: 'next-tick' };
  }
  for (;;) {
    const decidedAt = await context.now(`decided/${context.run.generation}/${views.length}`);
    const elapsedMs = decidedAt - opened;
    // Attempts of an earlier stretch are replayed, not decided again.
    const replaying = views.length < input.firstAttempt - 1;
    const next = replaying
      ? ({ next: 'attempt' } as const)
      : decideNext(
          views.map((view) => view.record),
          policy,
          { firstAttempt: input.firstAttempt, elapsedMs },
        );
    const gone =
      replaying || views.length < input.firstAttempt ? undefined : await closedMeanwhile({ parts, context, input, task }, views.length);
    if (gone !== undefined) return close(input, views, { exit: { exit: 'nothing-to-do', why: gone }, landed: undefined, unseen });
    if (next.next === 'land') return await land({ parts, context, input, task, report }, { views, unseen });
    if (next.next === 'close') return close(input, views, { exit: next.exit, landed: undefined, unseen });
    views.push(
      await performAttempt({
        parts,
        context,
        input,
        task,
        attempt: views.length + 1,
        earlier: views,
        gitSetup,
        remainingMs: policy.timeMs - elapsedMs,
        report: views.length < told ? silent : report,
      }),
    );
    if (views.length >= told) context.set('attempts', views);
  }
};

/**
 * What others track may be closed by them while it is worked on: asked before every further attempt, and before the landing.
 * @returns why there is nothing to do any more
 */
const closedMeanwhile = async ({ parts, context, input, task }: Omit<Spiral, 'report'>, attempts: number): Promise<string | undefined> => {
  if (task.claim === undefined) return undefined;
  const { loop, prefix } = input;
  const key = `still-open/${context.run.generation}/${attempts}`;
  const still = await context.step(key, {}, async (step) => {
    const base = await parts.resolveBase(loop.land.target);
    return await parts.discoverer.stillOpen({ loop, base, prefix, run: processesOf(context, `${key}/p${step.performance}`), task });
  });
  return still.open ? undefined : still.why;
};

const close = (
  input: RunInput,
  views: readonly AttemptView[],
  { exit, landed, unseen }: { readonly exit: RunExit; readonly landed: Landed | undefined; readonly unseen: boolean },
): RunOutput => ({
  exit,
  landed,
  evidence: views.at(-1)?.evidence,
  spend: spendOf(views, unseen),
  again: views.at(-1)?.record.blocked === undefined ? 'by-person' : 'next-tick',
  wake: resetOf(input, views.at(-1)),
});

/** When the provider serves again, where it said so. */
const resetOf = ({ loop }: RunInput, last: AttemptView | undefined): Wake | undefined => {
  const result = last?.agent?.result;
  const at = result?.outcome === 'failed' && last?.record.blocked !== undefined ? result.error.resetAt : undefined;
  return at === undefined ? undefined : { on: 'quota', at, provider: providerOf(loop.agent) };
};

const land = async (
  { parts, context, input, task }: Spiral,
  { views, unseen }: { readonly views: readonly AttemptView[]; readonly unseen: boolean },
): Promise<RunOutput> => {
  const { loop, base, prefix } = input;
  const run = context.run.id;
  const last = views.at(-1);
  assert(last?.candidate !== undefined && last.evidence !== undefined, 'a passing attempt has a candidate and evidence');
  const { candidate } = last;
  context.set('now', { attempt: last.record.attempt, stage: 'landing', generation: context.run.generation } satisfies RunNow);
  const verifyCombined = async (
    scope: string,
    commit: typeof candidate,
    onto: typeof base,
  ): Promise<{ pass: boolean; why: string; evidence: EvidenceHash }> => {
    const combined = await parts.candidateOf(commit, onto);
    const { record, evidence } = await parts.verifier.verify({
      run,
      attempt: last.record.attempt,
      task,
      candidate: combined,
      checks: loop.verify,
      protect: loop.protect,
      prefix,
      setup: loop.workspace.setup,
      setupTimeoutMs: loop.workspace.setupTimeoutMs,
      share: loop.workspace.share ?? [],
      findings: [],
      process: processesOf(context, `${scope}/${commit.slice(0, 12)}`),
      signal: context.signal,
    });
    const { verdict } = record;
    const why =
      verdict.verdict === 'fail' ? verdict.reasons.map((reason) => reason.sentence) : verdict.verdict === 'inconclusive' ? verdict.why : [];
    return { pass: verdict.verdict === 'pass', why: why.join(' '), evidence };
  };
  const landing = { as: loop.land.as, run, target: loop.land.target };
  const triedNow = new Set<string>();
  const landOnce = (key: string): Promise<Landed> =>
    context.step(key, { onCrash: { reconcile: () => parts.lander.find(landing) } }, (step) => {
      triedNow.add(key);
      return parts.lander.land({
        ...landing,
        loop: loop.name,
        taskTitle: task.title,
        taskKey: task.key,
        base,
        candidate,
        evidence: last.evidence as EvidenceHash,
        sign: loop.land.sign,
        verifyCombined: (commit, onto) => verifyCombined(`${key}/p${step.performance}`, commit, onto),
      });
    });
  // A stretch without an attempt of its own lands what an earlier one judged: what that one landed, though it was cut off right after,
  // is landed. Only a refusal is tried anew.
  const { generation: own } = context.run;
  let stretch = last.record.attempt < input.firstAttempt ? 1 : own;
  let landed = await landOnce(`land/${stretch}`);
  while (landed.landed === 'no' && triedNow.size === 0 && stretch < own) {
    stretch += 1;
    landed = await landOnce(`land/${stretch}`);
  }
  const key = `land/${stretch}`;
  await context.record(`${key}/recorded`, landed.landed === 'no' ? 'landing.refused' : 'change.landed', landed);
  if (landed.landed === 'no')
    return close(input, views, { exit: { exit: 'parked', why: `Verified but not landed: ${landed.why}` }, landed, unseen });
  context.set('landed', landed);
  // The change is safe under its ref or branch; the folder has served. What still holds work stays and is listed (L7).
  const holds = await context.step(`${key}/release`, {}, () => parts.workspaces.release(run, [candidate, landed.commit]));
  if (holds.length > 0) context.set('workspace-kept', holds);
  return close(input, views, { exit: { exit: 'goal-met' }, landed, unseen });
};
