import type { EpochMs } from '../../core/ids.ts';
import { sameProcess, type ProcessIdentity } from '../../process/index.ts';
import type { ClaimHolder, ClaimRow } from './port.ts';

export type Taking = 'keep' | 'take' | 'refuse';

/** What a claim on a key comes to (rules 2 and 4 of port.ts). Pure but for `isAlive`. @param row undefined where nobody holds the key */
export const mayTake = (
  row: ClaimRow | undefined,
  asked: { readonly holder: ClaimHolder; readonly now: EpochMs; readonly isAlive: (process: ProcessIdentity) => boolean },
): Taking => {
  if (row === undefined) return 'take';
  const { holder, now, isAlive } = asked;
  const isOwnRun = row.stateHome === holder.stateHome && row.run === holder.run;
  if (isOwnRun && sameProcess(row.process, holder.process)) return 'keep';
  if (isAlive(row.process)) return 'refuse';
  if (isOwnRun) return 'take';
  if (row.leaseUntil > now || row.workers.some((worker) => isAlive(worker))) return 'refuse';
  return 'take';
};
