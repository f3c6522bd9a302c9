// Reading facts past a damaged place. SQLite refuses every query that meets a damaged page; the pages before and after it can be read, so
// that only the facts on it are lost. What stands for them is a gap.

/** Facts that cannot be read: from `seq` to `until`, both included. `why` says what refused. */
export interface Gap {
  readonly seq: number;
  readonly until: number;
  readonly why: string;
}

interface FactSource<T> {
  /** At most `limit` facts behind `afterSeq`, in order. @throws where they are damaged */
  page(afterSeq: number, limit: number): readonly T[];
  /** The last fact there should be. */
  lastSeq(): number;
  /** Whether an error means damage of the file; another one is thrown on. */
  isDamage(error: unknown): boolean;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a fact that cannot be read is shown as. */
export const gapKind = 'facts.unreadable';

export const isGap = (item: object): item is Gap => 'until' in item;

/** Facts and gaps in order. @param start `pageFacts` is how many facts are read at once */
export function* readAcross<T extends { readonly seq: number }>(
  source: FactSource<T>,
  start: { readonly afterSeq: number; readonly pageFacts: number },
): Generator<T | Gap> {
  const tryPage = (afterSeq: number, limit: number): readonly T[] | { readonly why: string } => {
    try {
      return source.page(afterSeq, limit);
    } catch (error) {
      if (!source.isDamage(error)) throw error;
      return { why: messageOf(error) };
    }
  };
  const isReadable = (seq: number): boolean => !('why' in tryPage(seq - 1, 1));

  /** The first fact behind `bad` that can be read: in growing steps, then halving. A damaged place is taken for one piece. */
  const endOfDamage = (bad: number, last: number): number => {
    let low = bad;
    let high = bad + 1;
    for (let step = 1; high <= last && !isReadable(high); step *= 2) {
      low = high;
      high += step;
    }
    high = Math.min(high, last + 1);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (isReadable(middle)) high = middle;
      else low = middle;
    }
    return high;
  };

  let after = start.afterSeq;
  let size = start.pageFacts;
  for (;;) {
    const page = tryPage(after, size);
    if (!('why' in page)) {
      const last = page.at(-1);
      if (last === undefined) return;
      yield* page;
      after = last.seq;
      size = start.pageFacts;
      continue;
    }
    if (size > 1) {
      size = Math.floor(size / 2);
      continue;
    }
    const last = source.lastSeq();
    const until = endOfDamage(after + 1, last) - 1;
    yield { seq: after + 1, until, why: page.why };
    if (until >= last) return;
    after = until;
    size = start.pageFacts;
  }
}
