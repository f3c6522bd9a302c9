import { performValue } from './perform-value.ts';
import type { Scope } from './scope.ts';

/** Which version of a change this run goes by. A recorded one that the code no longer knows parks the run. */
export const performVersion = async (
  scope: Scope,
  change: { readonly changeId: string; readonly min: number; readonly max: number },
): Promise<number> => {
  const { changeId, min, max } = change;
  const version = Number(await performValue(scope, `version:${changeId}`, () => max));
  if (version >= min && version <= max) return version;
  return scope.park({
    code: 'VERSION_UNSUPPORTED',
    message: `Run ${scope.run.id} goes by version ${version} of ${changeId}; this code knows ${min} to ${max}.`,
    step: `version:${changeId}`,
  });
};
