import { epochMs, type EpochMs } from '../core/ids.ts';
import type { WindowTimes } from './window-times.ts';

export interface Span {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

export interface Stretch extends Span {
  readonly count: number;
}

/**
 * The windows with `after < window <= until` that no span covers, as stretches of neighbours.
 * @param covered windows that have an end, or wait for one
 */
export const stretches = (
  times: WindowTimes,
  { after, until, covered }: { readonly after: EpochMs; readonly until: EpochMs; readonly covered: readonly Span[] },
): readonly Stretch[] => {
  const found: Stretch[] = [];
  const add = (from: EpochMs, to: EpochMs): void => {
    const first = times.next(from);
    if (first === undefined || first > to) return;
    const { count, newest } = times.between(from, to, 1);
    found.push({ from: first, to: newest[0] ?? first, count });
  };
  let from = after;
  for (const span of covered.toSorted((a, b) => a.from - b.from)) {
    if (span.to <= from || span.from > until) continue;
    add(from, epochMs(Math.min(span.from - 1, until)));
    from = epochMs(Math.max(from, span.to));
  }
  if (from < until) add(from, until);
  return found;
};
