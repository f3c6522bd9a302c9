// Runs the simulator: `npm run sim -- --seeds 10000`. Exit code 1 when a promise was broken; each failing seed prints how to replay it.
import os from 'node:os';
import { type InvariantName, invariants } from './invariants.ts';
import { everyCrashOf, type Job, replayCommand } from './jobs.ts';
import { parseOptions, type SimOptions, usage } from './options.ts';
import { type Done, runJobs } from './pool.ts';
import { simulate } from './simulate.ts';
import { createTotals, totalsText } from './totals.ts';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Worlds in which much happens without any disturbance, for trying every single crash. */
const baseSeeds = [17, 19, 24, 25];
const failuresShown = 10;
const linesShown = 25;

const failureText = ({ job, report }: Done): string => {
  const broken = report.violations.map(({ invariant, seen }) => `  ${invariant} ${invariants[invariant]}\n    ${seen}`);
  const last = report.last.slice(-linesShown).map((line) => `    ${line}`);
  return [`Seed ${job.seed} fails:`, ...broken, '  The last of what happened:', ...last, `  Replay: ${replayCommand(job)} --verbose`].join(
    '\n',
  );
};

const replay = async (options: SimOptions, seed: number): Promise<number> => {
  const { crash, sabotage, verbose } = options;
  const job: Job = { seed, ...(crash === undefined ? {} : { crash }), ...(sabotage === undefined ? {} : { sabotage }) };
  const report = await simulate({ ...job, ...(verbose ? { show: print } : {}) });
  if (options.json) print(JSON.stringify(report));
  else if (report.violations.length > 0) print(failureText({ job, report }));
  else print(`Seed ${seed} holds. History ${report.hash}`);
  return report.violations.length === 0 ? 0 : 1;
};

const jobsOf = async ({ seeds, from, everyCrash, sabotage }: SimOptions): Promise<readonly Job[]> => {
  const byChance = Array.from({ length: seeds }, (_, index): Job => ({
    seed: from + index,
    ...(sabotage === undefined ? {} : { sabotage }),
  }));
  const exhaustive: Job[] = [];
  for (const seed of baseSeeds.slice(0, everyCrash)) exhaustive.push({ seed, crash: 'never' }, ...(await everyCrashOf(seed)));
  return [...exhaustive, ...byChance];
};

const runAll = async (options: SimOptions): Promise<number> => {
  const began = performance.now();
  const totals = createTotals();
  const failed: Done[] = [];
  const jobs = await jobsOf(options);
  let count = 0;
  await runJobs(jobs, {
    workers: options.workers,
    done: (done) => {
      totals.add(done.report);
      count += 1;
      if (done.report.violations.length > 0) failed.push(done);
      if (!options.json && count % 1_000 === 0) print(`${count} of ${jobs.length} worlds, ${failed.length} failed`);
    },
  });
  const seconds = (performance.now() - began) / 1_000;
  const broken: Partial<Record<InvariantName, number>> = {};
  for (const { report } of failed) for (const { invariant } of report.violations) broken[invariant] = (broken[invariant] ?? 0) + 1;
  if (options.json) {
    const failures = failed.map(({ job, report }) => ({ replay: replayCommand(job), violations: report.violations }));
    print(JSON.stringify({ seconds, ...totals.read(), broken, failures }));
  } else {
    for (const one of failed.toSorted((a, b) => a.job.seed - b.job.seed).slice(0, failuresShown)) print(failureText(one));
    if (failed.length > failuresShown)
      print(
        `... and ${failed.length - failuresShown} more: ${failed
          .slice(failuresShown, 60)
          .map(({ job }) => replayCommand(job))
          .join('; ')}`,
      );
    print(totalsText(totals.read()));
    print(`${jobs.length} worlds in ${seconds.toFixed(0)} s: ${failed.length === 0 ? 'every invariant holds' : JSON.stringify(broken)}`);
  }
  return failed.length === 0 ? 0 : 1;
};

try {
  const options = parseOptions(process.argv.slice(2), os.availableParallelism());
  process.exitCode = options.seed === undefined ? await runAll(options) : await replay(options, options.seed);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 2;
}
