import type { Task } from '../core/task.ts';
import type { CheckObservation } from '../core/verdict.ts';

/**
 * Whether one run of the task's own command on a newer base still shows the task undone. Pure. Whatever cannot be judged counts as open:
 * the verdict will say what is wrong with it.
 */
export const isOpenIn = (task: Task, observation: CheckObservation): boolean => {
  const { proof } = task;
  if (proof.by === 'checks' || observation.end !== 'ran') return true;
  if (proof.by === 'command') return observation.exitCode !== 0;
  if (observation.report.read !== 'yes') return true;
  return !observation.report.tests.some((test) => test.id === proof.test && test.outcome === 'passed');
};
