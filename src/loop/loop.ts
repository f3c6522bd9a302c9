// The cycle on one page: discover, decide, perform. A tick is a durable run of its own: a restarted engine goes on with it where it
// was, and its window's name is its id, so that one window never becomes two ticks (L11).
import { exitCodes, worstExitCode } from '../core/exit.ts';
import type { RunId } from '../core/ids.ts';
import type { Discovery } from '../discover/index.ts';
import type { LoopHandler, RunContext } from '../journal/index.ts';
import type { Dispatcher } from './dispatch-port.ts';
import { keepWithHash } from './keep.ts';
import { planTick } from './plan-tick.ts';
import type { LoopParts, TickInput, TickOutput, TickReporter } from './port.ts';
import { processesOf } from './attempt.ts';
import { readmit } from './readmit.ts';
import { closedElsewhere, inputOf, tickHandler } from './run-record.ts';
import { keysOf, nothingFound, rememberFound, runsOfVanished } from './task-memory.ts';

export const createTick = (parts: LoopParts, dispatcher: Dispatcher, reporter: TickReporter): LoopHandler => ({
  ...tickHandler,
  handle: (context, raw) => cycle({ parts, dispatcher, reporter, context, input: raw as TickInput }),
});

interface Cycle {
  readonly parts: LoopParts;
  readonly dispatcher: Dispatcher;
  readonly reporter: TickReporter;
  readonly context: RunContext;
  readonly input: TickInput;
}

const cycle = async ({ parts, dispatcher, reporter, context, input }: Cycle): Promise<TickOutput> => {
  const { loop, prefix, wakes } = input;
  const report = reporter(context);

  // Discover, on the commit the loop works from and never on the user's files.
  const base = await context.step('base', {}, () => parts.resolveBase(loop.land.target));
  let ms = 0;
  const found = await keepWithHash({ parts, context }, 'discovery', async (step) => {
    const begun = parts.clock();
    const run = processesOf(context, `discover/p${step.performance}`);
    const discovery = wakes.length > 0 ? tasksOf(parts, wakes) : await parts.discoverer.discover({ loop, base, prefix, run });
    // Told and not kept: what is kept of a tick that finds what the last one found is one file of evidence, not one more.
    ms = parts.clock() - begun;
    return discovery;
  });
  const discovery = found.value;
  report({ event: 'discovered', discovery, ms });

  // Decide: each task by what was made of it before. What its source does not name any more is not worked on any longer.
  const plan = await keepWithHash({ parts, context }, 'plan', async () => {
    const { matches, back } =
      wakes.length > 0 ? nothingFound : await rememberFound(parts.engine, { loop: loop.name, discovery, now: parts.clock() });
    for (const gone of runsOfVanished(parts.reader, matches)) await parts.engine.cancel(gone.id, { reason: closedElsewhere });
    const records = new Map(
      matches.flatMap((match) => (match.match === 'vanished' ? [] : [[match.task.key, keysOf(match.record)] as const])),
    );
    return planTick(parts, { loop, base, discovery, byPerson: input.trigger === 'manual', records, back });
  });
  const planned = plan.value;
  for (const one of planned) if (one.admit === 'skip') report({ event: 'skipped', task: one.task, why: one.why });

  // Perform: the dispatcher starts what is admitted when its turn comes. After a crash it is asked again, and finds what it had started.
  const plans = planned.filter((one) => one.admit !== 'skip');
  const { runs, halted } = await context.step('perform', {}, (step) =>
    dispatcher.perform({
      tick: context.run.id,
      loop,
      prefix,
      base,
      plans,
      readmit: (task) => readmit(parts, { loop, input, startedAt: context.run.startedAt }, task),
      processes: processesOf(context, `perform/p${step.performance}`),
      signal: context.signal,
      report,
    }),
  );

  const waiting = planned.some((one) => one.admit === 'skip' && one.needsPerson) ? exitCodes.parked : 0;
  const unread = discovery.problems.length > 0 ? exitCodes.usage : 0;
  const exitCode = Math.max(worstExitCode(runs.map((run) => run.output.exit)), waiting, unread);
  return { base, discovery: found.hash, planned: plan.hash, runs, halted, exitCode };
};

/** The tasks of runs that go on: they were discovered before. */
const tasksOf = (parts: LoopParts, runs: readonly RunId[]): Discovery => {
  const tasks = runs.flatMap((id) => {
    const row = parts.reader.run(id);
    return row === undefined ? [] : [inputOf(row).task];
  });
  return { tasks, setAside: [], problems: [], unread: [] };
};
