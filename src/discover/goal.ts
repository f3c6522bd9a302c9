import { cutMiddle, oneLine } from '../core/text.ts';
import type { Task } from '../core/task.ts';
import type { CheckObservation } from '../core/verdict.ts';
import { found, keyOf, shortHash, taskTextLetters, type Found } from './found.ts';

/**
 * The one task of a given condition. Pure. A condition that holds already is no task (L10), and one that holds sometimes could never be
 * proved: a green check after the work would say nothing.
 * @param input runs of the check on base, at least one
 */
export const goalTask = (input: {
  readonly condition: string;
  readonly check: string;
  readonly source: string;
  readonly runs: readonly CheckObservation[];
}): Found => {
  const { condition, check, source, runs } = input;
  const key = keyOf('goal', shortHash(`${condition}\n${check}`));
  const title = oneLine(condition);
  const stuck = runs.find((run) => run.end !== 'ran');
  if (stuck !== undefined || runs.length === 0)
    return found({
      problems: [`${source}: the check did not run to its end on base (${stuck?.end ?? 'not run'}). ${stuck?.problem ?? ''}`.trim()],
    });
  const red = runs.filter((run) => run.exitCode !== 0);
  const last = red.at(-1);
  if (last === undefined)
    return found({ setAside: [{ key, title, why: `It holds already: \`${check}\` ends with exit code 0 on base.` }] });
  if (red.length < runs.length)
    return found({
      setAside: [{ key, title, why: `Flaky: \`${check}\` is red ${red.length} of ${runs.length} runs on the same commit.` }],
    });
  const task: Task = {
    key,
    title,
    body: condition,
    evidence: cutMiddle(last.cwd === '' ? last.output : last.output.replaceAll(`${last.cwd}/`, ''), taskTextLetters),
    priority: 0,
    touches: [],
    // The condition is the owner's; what the check printed is not, and the label is that of the least trusted part.
    trust: 'repository',
    source,
    proof: { by: 'command', command: check },
  };
  return found({ tasks: [task] });
};
