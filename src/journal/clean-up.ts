import type { Cleanup } from './context.ts';
import type { Scope } from './scope.ts';

/** Runs the cleanups of an execution, last in first out. @returns the keys of those that failed */
export const cleanUp = async (scope: Scope, cleanups: readonly Cleanup[]): Promise<readonly string[]> => {
  const unclean: string[] = [];
  for (const { key, effect } of cleanups.toReversed()) {
    const prior = scope.steps.get(key);
    const isOfThisGeneration = prior?.generation === scope.run.generation;
    if (isOfThisGeneration && prior?.state === 'done') continue;
    if (isOfThisGeneration && prior?.state === 'failed') {
      unclean.push(key);
      continue;
    }
    const step = await scope.intend(key, 'cleanup');
    try {
      await effect();
    } catch (error) {
      const stopped = scope.stopReason();
      if (stopped !== undefined) throw stopped;
      unclean.push(key);
      await scope.fail(step, error).catch((fault: unknown) => {
        if (scope.stopReason() !== undefined) throw fault;
      });
      continue;
    }
    await scope.complete(step, undefined);
  }
  return unclean;
};
