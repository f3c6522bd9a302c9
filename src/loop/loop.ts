// The cycle on one page: reconcile, discover, decide, perform.
import { exitCodes, worstExitCode } from '../core/exit.ts';
import type { CommitSha } from '../core/ids.ts';
import type { RunHandle } from '../journal/index.ts';
import { admit, dedupeKeyOf } from './admission.ts';
import { openRun } from './open-run.ts';
import type { Admission, EndedRun, LoopParts, TickReport, TickRequest } from './port.ts';
import { inputOf, outputOf } from './run-record.ts';
import { createTaskRun } from './run-task.ts';

/** One firing of a loop: finishes what an earlier process left open, finds work, and takes every admitted task to its exit. */
export const tick = async (parts: LoopParts, request: TickRequest): Promise<TickReport> => {
  const { loop, prefix, dryRun, report } = request;
  const handler = createTaskRun(parts, report);
  const runs: EndedRun[] = [];

  const finish = async (handle: RunHandle): Promise<EndedRun> => {
    const row = await handle.ended;
    const ended = { run: row.id, title: inputOf(row).task.title, output: outputOf(row) };
    // A handler that ended without a word (cancelled, failed) could not report its end itself.
    if (row.state !== 'done') report({ event: 'run-ended', ...ended });
    runs.push(ended);
    return ended;
  };

  // Reconcile: runs whose engine died go on before anything new is started (L5).
  if (!dryRun) {
    const open = await parts.engine.recover([handler]);
    for (const { id } of open) report({ event: 'run-recovered', run: id, title: titleOf(parts, id) });
    await Promise.all(open.map(finish));
  }

  // Discover, on the commit the loop works from and never on the user's files.
  const base = await parts.resolveBase(loop.land.target);
  const begun = parts.clock();
  const discovery = await parts.discoverer.discover({ loop, base, prefix, run: parts.runProcess });
  report({ event: 'discovered', discovery, ms: parts.clock() - begun });

  // Decide.
  const planned = await Promise.all(discovery.tasks.map((task) => decide(parts, { loop, task, base })));
  for (const plan of planned) if (plan.admit === 'skip') report({ event: 'skipped', task: plan.task, why: plan.why });
  if (dryRun) return { base, discovery, planned, runs, halted: undefined, exitCode: discovery.problems.length > 0 ? exitCodes.usage : 0 };

  // Perform, at most `parallel` at once, in rank order.
  let halted: string | undefined;
  const queue = planned.filter((plan) => plan.admit !== 'skip');
  const worker = async (): Promise<void> => {
    for (let plan = queue.shift(); plan !== undefined && halted === undefined && !parts.stopping.aborted; plan = queue.shift()) {
      // A landing since discovery may have moved the base and done this task along the way; what others track may have been closed there.
      const now = await parts.resolveBase(loop.land.target);
      if (now !== base || plan.task.claim !== undefined) {
        const still = await parts.discoverer.stillOpen({ loop, base: now, prefix, run: parts.runProcess, task: plan.task });
        if (!still.open) {
          report({ event: 'skipped', task: plan.task, why: still.why });
          continue;
        }
      }
      const handle = await openRun(parts, handler, { loop, prefix, base: now, plan });
      report({ event: 'run-started', run: handle.id, task: plan.task, reopened: plan.admit === 'reopen' });
      const { output } = await finish(handle);
      // An agent that cannot log in for one task cannot for the next one either: stop asking, leave the rest open.
      if (output.again === 'next-tick') halted = 'why' in output.exit ? output.exit.why : output.exit.exit;
    }
  };
  await Promise.all(Array.from({ length: loop.parallel }, worker));

  const waiting = planned.some((plan) => plan.admit === 'skip' && plan.needsPerson) ? exitCodes.parked : 0;
  const unread = discovery.problems.length > 0 ? exitCodes.usage : 0;
  const exitCode = Math.max(worstExitCode(runs.map((run) => run.output.exit)), waiting, unread);
  return { base, discovery, planned, runs, halted, exitCode };
};

const titleOf = (parts: LoopParts, run: string): string => {
  const row = parts.engine.reader.run(run);
  return row === undefined ? '' : inputOf(row).task.title;
};

const decide = async (
  parts: LoopParts,
  { loop, task, base }: { readonly loop: TickRequest['loop']; readonly task: Admission['task']; readonly base: CommitSha },
): Promise<Admission> => {
  const last = parts.engine.reader.runs({ dedupeKey: dedupeKeyOf(loop.name, task) }).at(-1);
  const landed = last?.state === 'done' ? outputOf(last).landed : undefined;
  const fate = landed === undefined || landed.landed === 'no' ? undefined : await parts.lander.fate(landed, base);
  return admit({ task, last, fate, landAs: loop.land.as });
};
