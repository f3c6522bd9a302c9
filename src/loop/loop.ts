// The cycle on one page: reconcile, discover, decide, perform.
import { worstExitCode, exitCodes } from '../core/exit.ts';
import type { RunHandle, RunRow } from '../journal/index.ts';
import { admit, dedupeKeyOf } from './admission.ts';
import type { Admission, LoopParts, RunInput, RunOutput, TickReport, TickRequest } from './port.ts';
import { createTaskRun } from './run-task.ts';
import { attemptsOf, inputOf, outputOf } from './run-record.ts';

/** One firing of a loop: finishes what an earlier process left open, finds work, and takes every admitted task to its exit. */
export const tick = async (parts: LoopParts, request: TickRequest): Promise<TickReport> => {
  const { engine } = parts;
  const { loop, prefix, dryRun, report } = request;
  const handler = createTaskRun(parts, report);
  const runs: { run: RunRow['id']; title: string; output: RunOutput }[] = [];
  const finish = async (handle: RunHandle): Promise<RunOutput> => {
    const row = await handle.ended;
    const done = { run: row.id, title: inputOf(row).task.title, output: outputOf(row) };
    // A handler that ended without a word (cancelled, failed) could not report its end itself.
    if (row.state !== 'done') report({ event: 'run-ended', ...done });
    runs.push(done);
    return done.output;
  };

  // Reconcile: runs whose engine died go on before anything new is started (L5).
  if (!dryRun) {
    const open = await engine.recover([handler]);
    for (const handle of open) report({ event: 'run-recovered', run: handle.id, title: titleOf(engine.reader.run(handle.id)) });
    for (const handle of open) await finish(handle);
  }

  // Discover, on the commit the loop works from and never on the user's files.
  const base = await parts.resolveBase(loop.land.target);
  const begun = parts.clock();
  const discovery = await parts.discoverer.discover({ loop, base, prefix, run: parts.runProcess });
  report({ event: 'discovered', discovery, ms: parts.clock() - begun });

  // Decide.
  const planned: Admission[] = [];
  for (const task of discovery.tasks) {
    const last = engine.reader.runs({ dedupeKey: dedupeKeyOf(loop.name, task) }).at(-1);
    const landed = last === undefined || last.state !== 'done' ? undefined : outputOf(last).landed;
    const fate = landed === undefined || landed.landed === 'no' ? undefined : await parts.lander.fate(landed, base);
    planned.push(admit({ task, last, fate, landAs: loop.land.as }));
  }
  for (const plan of planned) if (plan.admit === 'skip') report({ event: 'skipped', task: plan.task, why: plan.why });
  if (dryRun) return { base, discovery, planned, runs, halted: undefined, exitCode: 0 };

  // Perform, at most `parallel` at once, in rank order.
  let halted: string | undefined;
  const queue = planned.filter((plan) => plan.admit !== 'skip');
  const worker = async (): Promise<void> => {
    for (let plan = queue.shift(); plan !== undefined && halted === undefined; plan = queue.shift()) {
      const handle = await open(plan);
      report({ event: 'run-started', run: handle.id, task: plan.task, reopened: plan.admit === 'reopen' });
      const output = await finish(handle);
      // An agent that cannot log in for one task cannot for the next one either: stop asking, leave the rest open.
      if (output.again === 'next-tick') halted = 'why' in output.exit ? output.exit.why : output.exit.exit;
    }
  };
  const open = async (plan: Exclude<Admission, { admit: 'skip' }>): Promise<RunHandle> => {
    const input: RunInput = { task: plan.task, loop, base, prefix, firstAttempt: 1 };
    if (plan.admit === 'start')
      return await engine.start(handler, input, { id: parts.newRunId(), dedupeKey: dedupeKeyOf(loop.name, plan.task) });
    return await engine.reopen(handler, plan.run, reopenedInput(engine.reader.run(plan.run), loop));
  };
  await Promise.all(Array.from({ length: loop.parallel }, worker));

  const waits = planned.some((plan) => plan.admit === 'skip' && plan.needsPerson) ? exitCodes.parked : 0;
  const problems = discovery.problems.length > 0 ? exitCodes.usage : 0;
  const exitCode = Math.max(worstExitCode(runs.map((run) => run.output.exit)), waits, problems);
  return { base, discovery, planned, runs, halted, exitCode };
};

const titleOf = (row: RunRow | undefined): string => (row === undefined ? '' : inputOf(row).task.title);

/** A run opened again keeps its task and base; the loop's limits are those of today, and stop rules look at new attempts only. */
export const reopenedInput = (row: RunRow | undefined, loop: RunInput['loop']): RunInput => {
  if (row === undefined) throw new TypeError('a run that is opened again has a row');
  return { ...inputOf(row), loop, firstAttempt: attemptsOf(row).length + 1 };
};
