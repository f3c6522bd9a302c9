import { Rejection } from '../../core/fault.ts';
import type { LoopDefinition } from '../../core/loop-definition.ts';
import { tick, type TickReport } from '../../loop/index.ts';
import { agentOf } from '../compose.ts';
import { refuseWithoutForge } from '../forge.ts';
import { agentNamed, chooseLoop, configOf, prefixOf, withAgent } from '../loop-choice.ts';
import { findPlace, type Place } from '../place.ts';
import { line, printJson } from '../print.ts';
import { tickLines } from '../tick-lines.ts';
import { withCycle } from '../with-cycle.ts';

export interface RunOptions {
  readonly dryRun?: boolean;
  readonly report?: boolean;
  readonly agent?: string;
  readonly json?: boolean;
  /** Tell nothing; the caller does. */
  readonly quiet?: boolean;
}

export const run = async (name: string | undefined, options: RunOptions): Promise<TickReport> => {
  const place = await findPlace();
  const source = configOf(place);
  const loaded = await chooseLoop(source, name);
  const agent = options.agent === undefined ? undefined : await agentNamed(source, options.agent);
  const base = withAgent(loaded.definition, agent);
  const loop: LoopDefinition = options.report === true ? { ...base, land: { ...base.land, as: 'report' } } : base;
  for (const notice of loaded.notices) process.stderr.write(`note: ${notice.sentence}\n`);
  return await runLoop({ place, home: source.home, loop, options });
};

/** Runs one tick of a loop, tells it as it happens, and sets the exit code. */
export const runLoop = async (request: {
  readonly place: Place;
  readonly home: string;
  readonly loop: LoopDefinition;
  readonly options: RunOptions;
}): Promise<TickReport> => {
  const { place, home, loop, options } = request;
  const dryRun = options.dryRun === true;
  await refuseWithoutForge(loop, { root: place.repository.root, home, env: process.env });
  // An agent that is not installed is found out before anything is paid for or made.
  const probe = dryRun ? undefined : await agentOf(loop, { home, env: process.env }).probe();
  if (probe !== undefined && !probe.installed) throw new Rejection(probe.problem);

  const quiet = options.json === true || options.quiet === true;
  const report = await withCycle({ place, home, env: process.env }, (cycle) =>
    tick(cycle.parts, {
      loop,
      prefix: prefixOf(place, home),
      dryRun,
      report: (event) => {
        if (!quiet) for (const text of tickLines(event)) line(text);
      },
    }),
  );
  process.exitCode = report.exitCode;
  if (options.json === true) printJson(report);
  if (!quiet) closing(report, dryRun);
  return report;
};

const closing = (report: TickReport, dryRun: boolean): void => {
  if (dryRun) {
    const starts = report.planned.filter((plan) => plan.admit !== 'skip');
    line(`Dry run: ${starts.length} would be run, nothing was started.`);
    for (const { task } of starts) line(`  ${task.title}`);
    return;
  }
  if (report.halted !== undefined) line(`Later tasks were not started: ${report.halted}`);
  if (report.planned.length === 0 && report.runs.length === 0 && report.discovery.problems.length === 0) line('Nothing to do.');
};
