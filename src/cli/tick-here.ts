import { exitCodes, worstExitCode } from '../core/exit.ts';
import type { RunHandle } from '../journal/index.ts';
import { type EndedRun, inputOf, isTaskRun, outputOf, type TickInput, tickOutputOf } from '../loop/index.ts';
import { type Cycle, openCycle } from './compose.ts';
import { settingsAt } from './loop-choice.ts';
import { manualTickId } from './manual-tick.ts';
import type { Place } from './place.ts';
import { progressReporter } from './progress.ts';
import { tickLines } from './tick-lines.ts';
import { type TickReport, tickReportOf } from './tick-report.ts';
import { withCycle } from './with-cycle.ts';

/** Owns the state home for one tick: first goes on with what an earlier process left open (L5), then takes the tick to its end. */
export const tickHere = async (request: {
  readonly place: Place;
  readonly input: TickInput;
  readonly print: (text: string) => void;
}): Promise<TickReport> => {
  const { place, input, print } = request;
  const reporter = progressReporter((event) => tickLines(event).forEach(print));
  const settings = await settingsAt(place);
  const cycle = await openCycle({ place, env: process.env, reporter, settings });
  return await withCycle(cycle, async () => {
    const recovered = await settleRecovered(cycle, print);
    // A person who runs a loop says that what stopped it is mended.
    await cycle.breakers.close(input.loop.name);
    const id = manualTickId(input.loop.name);
    const handle = await cycle.engine.start(cycle.handlers.tick, input, { id, dedupeKey: id });
    const report = await tickReportOf(await handle.ended, cycle.parts.evidence);
    if (recovered.length === 0) return report;
    const runs = [...recovered, ...report.runs];
    const exitCode = Math.max(report.exitCode, worstExitCode(recovered.map((run) => run.output.exit)), exitCodes['goal-met']);
    return { ...report, runs, exitCode };
  });
};

/** Takes everything that was left open to its end. @returns the runs of tasks among it, each once */
const settleRecovered = async (cycle: Cycle, print: (text: string) => void): Promise<readonly EndedRun[]> => {
  const ended = new Map<string, EndedRun>();
  for (const { id } of cycle.recovered) {
    const row = cycle.engine.reader.run(id);
    if (row === undefined || !isTaskRun(row)) continue;
    tickLines({ event: 'run-recovered', run: id, title: inputOf(row).task.title }).forEach(print);
  }
  await Promise.all(
    cycle.recovered.map(async (handle: RunHandle) => {
      const row = await handle.ended;
      if (!isTaskRun(row)) {
        for (const run of tickOutputOf(row)?.runs ?? []) ended.set(run.run, run);
        return;
      }
      const run = { run: row.id, title: inputOf(row).task.title, output: outputOf(row) };
      // A handler that ended without a word (cancelled, failed) could not report its end itself.
      if (row.state !== 'done') tickLines({ event: 'run-ended', ...run }).forEach(print);
      ended.set(run.run, run);
    }),
  );
  return [...ended.values()];
};
