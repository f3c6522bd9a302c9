import type { EvidenceHash } from '../core/ids.ts';
import type { RunContext, StepContext } from '../journal/index.ts';
import type { LoopParts } from './port.ts';

/**
 * A step whose outcome may be larger than a journal entry: the outcome goes into the evidence store and the journal keeps its hash.
 * What comes back is plain JSON, the same on a replay as on the first performance.
 */
export const keep = async <T>(
  { parts, context }: { readonly parts: Pick<LoopParts, 'evidence'>; readonly context: RunContext },
  key: string,
  effect: (step: StepContext) => Promise<T>,
): Promise<T> => {
  const hash = await context.step<EvidenceHash>(key, {}, async (step) => await parts.evidence.put(JSON.stringify(await effect(step))));
  return JSON.parse((await parts.evidence.get(hash)).toString('utf8')) as T;
};
