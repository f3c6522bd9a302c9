import { oneLine } from '../core/text.ts';
import type { CheckObservation } from '../core/verdict.ts';

const missingScript = /missing script:? *"?([\w:.-]+)"?|couldn't find a script named "([\w:.-]+)"|command "([\w:.-]+)" not found/i;

/** What `python3 -m <module>` says; an import inside the code under test is reported otherwise. */
const missingModule = /^\S*python\S*: No module named (\S{1,100})$/m;

/** The command or its set-up is not there at all: nothing an agent should be paid to find out. */
const notThere = (run: CheckObservation): string | undefined => {
  if (run.exitCode === 0 || run.report.read === 'yes') return undefined;
  const [, npm, yarn, pnpm] = missingScript.exec(run.output) ?? [];
  const script = npm ?? yarn ?? pnpm;
  if (script !== undefined) return `package.json has no script "${script}". Add it, or name another test command.`;
  const [, module] = missingModule.exec(run.output) ?? [];
  if (module !== undefined) return `Python has no module ${module}. Install it in workspace.setup, or correct the command.`;
  if (run.exitCode !== 127) return undefined;
  return `a program of the command was not found (exit code 127): ${oneLine(run.output, 200)} Install it in workspace.setup, or correct the command.`;
};

const sentenceOf = (run: CheckObservation, source: string, which: string): string | undefined => {
  if (run.end === 'setup-failed')
    return `${source}: the set-up failed on base${which}. ${run.problem} Run workspace.setup by hand to see why.`;
  if (run.end !== 'ran') return `${source}: the command did not run to its end on base (${run.end}${which}). ${run.problem}`.trim();
  const missing = notThere(run);
  if (missing !== undefined) return `${source}: ${missing}`;
  if (run.report.read === 'broken') return `${source}: the test report of base is broken${which}. ${run.report.why}`;
  return undefined;
};

/** One sentence and what to do when a run cannot be used to tell red from green. */
export const unusableRun = (source: string, runs: readonly CheckObservation[]): string | undefined => {
  if (runs.length === 0) return `${source}: the command was not run on base.`;
  return runs
    .map((run, index) => sentenceOf(run, source, runs.length === 1 ? '' : `, run ${index + 1} of ${runs.length}`))
    .find((sentence) => sentence !== undefined);
};
