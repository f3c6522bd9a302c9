import { Rejection } from '../../core/fault.ts';
import type { LoopDefinition } from '../../core/loop-definition.ts';
import { openReader } from '../../journal/index.ts';
import { agentOf } from '../compose.ts';
import { daemonOf } from '../daemon-state.ts';
import { dryRun } from '../dry-run.ts';
import { refuseWithoutForge } from '../forge.ts';
import { agentNamed, chooseLoop, configOf, prefixOf, withAgent } from '../loop-choice.ts';
import { findPlace, type Place } from '../place.ts';
import { line, printJson } from '../print.ts';
import { tickByDaemon } from '../tick-by-daemon.ts';
import { tickHere } from '../tick-here.ts';
import type { TickReport } from '../tick-report.ts';

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

/** Runs one tick of a loop, tells it as it happens, and sets the exit code. A daemon that is up does it; without one this process does. */
export const runLoop = async (request: {
  readonly place: Place;
  readonly home: string;
  readonly loop: LoopDefinition;
  readonly options: RunOptions;
}): Promise<TickReport> => {
  const { place, home, loop, options } = request;
  const isDry = options.dryRun === true;
  await refuseWithoutForge(loop, { root: place.repository.root, home, env: process.env });
  // An agent that is not installed is found out before anything is paid for or made.
  const probe = isDry ? undefined : await agentOf(loop, { home, env: process.env }).probe();
  if (probe !== undefined && !probe.installed) throw new Rejection(probe.problem);

  const quiet = options.json === true || options.quiet === true;
  const print = (text: string): void => {
    if (!quiet) line(text);
  };
  const input = { loop, prefix: prefixOf(place, home), trigger: 'manual', wakes: [] };
  const report = await (isDry ? dryRun({ place, input, print }) : takeTick({ place, input, print }));
  process.exitCode = report.exitCode;
  if (options.json === true) printJson(report);
  if (!quiet) closing(report, isDry);
  return report;
};

const takeTick = async (request: Parameters<typeof tickHere>[0]): Promise<TickReport> => {
  const reader = openReader(request.place.stateHome);
  try {
    if (reader !== undefined && daemonOf(reader) !== undefined) return await tickByDaemon({ ...request, reader });
  } finally {
    reader?.[Symbol.dispose]();
  }
  return await tickHere(request);
};

const closing = (report: TickReport, isDry: boolean): void => {
  if (isDry) {
    const starts = report.planned.filter((plan) => plan.admit !== 'skip');
    line(`Dry run: ${starts.length} would be run, nothing was started.`);
    for (const { task } of starts) line(`  ${task.title}`);
    return;
  }
  if (report.halted !== undefined) line(`Later tasks were not started: ${report.halted}`);
  if (report.planned.length === 0 && report.runs.length === 0 && report.discovery.problems.length === 0) line('Nothing to do.');
};
