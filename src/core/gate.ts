/** Runs work, or lets it wait its turn. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets at most `most` work at once; the others wait in the order they came. Work that waits for other work behind the same gate would hang. */
export const createGate = (most: number): Gate => {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A place is handed on, not given back, so that nobody overtakes.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
};
