import type { EvidenceHash } from '../core/ids.ts';
import type { RunContext, StepContext } from '../journal/index.ts';
import type { LoopParts } from './port.ts';

export interface Keeper {
  readonly parts: Pick<LoopParts, 'evidence'>;
  readonly context: RunContext;
}

/**
 * A step whose outcome may be larger than a journal entry: the outcome goes into the evidence store and the journal keeps its hash.
 * What comes back is plain JSON, the same on a replay as on the first performance.
 */
export const keepWithHash = async <T>(
  { parts, context }: Keeper,
  key: string,
  effect: (step: StepContext) => Promise<T>,
): Promise<{ readonly value: T; readonly hash: EvidenceHash }> => {
  const hash = await context.step<EvidenceHash>(key, {}, async (step) => await parts.evidence.put(JSON.stringify(await effect(step))));
  return { value: JSON.parse((await parts.evidence.get(hash)).toString('utf8')) as T, hash };
};

/** `keepWithHash` for those who need the value alone. */
export const keep = async <T>(keeper: Keeper, key: string, effect: (step: StepContext) => Promise<T>): Promise<T> =>
  (await keepWithHash(keeper, key, effect)).value;
