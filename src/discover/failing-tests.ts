import { cutMiddle, oneLine, plainText } from '../core/text.ts';
import type { Task } from '../core/task.ts';
import { testsWith, type TestResult } from '../core/test-report.ts';
import type { CheckObservation } from '../core/verdict.ts';
import { found, keyOf, taskTextLetters, type Found } from './found.ts';
import { unusableRun } from './unusable-run.ts';

interface Runs {
  readonly command: string;
  readonly source: string;
  /** All runs of the command on one commit; at least one. */
  readonly runs: readonly CheckObservation[];
}

const evidenceOf = (run: CheckObservation, message: string): string => {
  const text = plainText(message === '' ? run.output : message);
  // The folder of the check is gone by the time anybody reads this.
  return cutMiddle(run.cwd === '' ? text : text.replaceAll(`${run.cwd}/`, ''), taskTextLetters);
};

const testTask = ({ command, source }: Runs, run: CheckObservation, test: TestResult): Task => ({
  key: keyOf('test', `${command}:${test.id}`),
  title: oneLine(`Failing test: ${test.id}`),
  body: `The test "${test.id}"${test.file === undefined || test.id.startsWith(test.file) ? '' : ` in ${test.file}`} of \`${command}\` fails.`,
  evidence: evidenceOf(run, test.message),
  priority: 0,
  touches: [],
  trust: 'repository',
  source,
  proof: { by: 'test', command, test: test.id, file: test.file },
});

/** One task for a command that is red without a test that says why. */
const exitTask = ({ command, source }: Runs, run: CheckObservation): Task => ({
  key: keyOf('exit', command),
  title: oneLine(`Failing command: ${command}`),
  body: `The command \`${command}\` ends with exit code ${run.exitCode}.`,
  evidence: evidenceOf(run, ''),
  priority: 0,
  touches: [],
  trust: 'repository',
  source,
  proof: { by: 'command', command },
});

/** By the exit code of each run alone: red in all, red in some, or green. */
const fromExits = (input: Runs, red: readonly CheckObservation[]): Found => {
  const { command, runs } = input;
  const last = red.at(-1);
  if (last === undefined) return found({});
  if (red.length === runs.length) return found({ tasks: [exitTask(input, last)] });
  const why = `Flaky: red ${red.length} of ${runs.length} runs on the same commit.`;
  return found({ setAside: [{ key: keyOf('exit', command), title: oneLine(`Failing command: ${command}`), why }] });
};

const fromTests = (input: Runs): Found => {
  const { command, runs, source } = input;
  const last = new Map<string, { readonly test: TestResult; readonly run: CheckObservation; readonly red: number }>();
  for (const run of runs)
    for (const test of testsWith(run.report, 'failed')) last.set(test.id, { test, run, red: (last.get(test.id)?.red ?? 0) + 1 });

  const failed = [...last.values()];
  const always = failed.filter(({ red }) => red === runs.length);
  const setAside = failed
    .filter(({ red }) => red < runs.length)
    .map(({ test, red }) => ({
      key: keyOf('test', `${command}:${test.id}`),
      title: oneLine(`Failing test: ${test.id}`),
      why: `Flaky: red ${red} of ${runs.length} runs on the same commit.`,
    }));
  const problems: string[] = [];
  if (always.length > 0 && runs.every((run) => run.exitCode === 0))
    problems.push(
      `${source}: the command ends with exit code 0 although ${always.length} tests failed, so its exit code proves nothing. Take out what hides it (such as "|| true").`,
    );
  return found({ tasks: always.map(({ test, run }) => testTask(input, run, test)), setAside, problems });
};

const noTest = (run: CheckObservation): boolean => testsWith(run.report, 'passed').length + testsWith(run.report, 'failed').length === 0;

/**
 * Turns the runs of a test command on base into tasks. Pure.
 *
 * What is red in every run is a task; what is red in some is flaky and set aside; what could not be read is a problem, never "no tasks".
 */
export const failingTests = (input: Runs): Found => {
  const { runs, source } = input;
  const problem = unusableRun(source, runs);
  if (problem !== undefined) return found({ problems: [problem] });

  const read = runs.filter((run) => run.report.read === 'yes');
  const unexplained = runs.filter((run) => run.exitCode !== 0 && testsWith(run.report, 'failed').length === 0);
  if (read.length === 0) return fromExits(input, unexplained);
  if (read.length < runs.length)
    return found({
      problems: [`${source}: a test report was printed in ${read.length} of ${runs.length} runs only. Run the command by hand to see why.`],
    });
  if (runs.every((run) => run.exitCode === 0 && noTest(run)))
    return found({ problems: [`${source}: the command ran no test. Correct the command, so that it finds the tests.`] });

  const tests = fromTests(input);
  const exits = fromExits(input, unexplained);
  // One run red by its tests and another by its exit code alone: the tests that went missing are set aside already.
  const explained = tests.setAside.length > 0 && unexplained.length < runs.length;
  return found({
    tasks: [...tests.tasks, ...exits.tasks],
    setAside: [...tests.setAside, ...(explained ? [] : exits.setAside)],
    problems: tests.problems,
  });
};
