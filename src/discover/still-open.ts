import { isInside, isUnnamed } from '../core/baseline-status.ts';
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
  const { tests } = observation.report;
  const itself = tests.find((test) => test.id === proof.test);
  if (itself !== undefined) return itself.outcome !== 'passed';
  // A report that names red tests only, and does not name this one.
  if (tests.some((test) => isUnnamed(test))) return false;
  // The entry of a whole suite or file gives way to the tests inside once it works.
  const entry = { id: proof.test, name: proof.test, file: proof.file, outcome: 'failed', message: '' } as const;
  const inside = tests.filter((test) => isInside(test, entry));
  return !inside.some((test) => test.outcome === 'passed') || inside.some((test) => test.outcome === 'failed');
};
