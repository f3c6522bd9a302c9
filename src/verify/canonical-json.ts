const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => sorted(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, item]) => [key, sorted(item)]),
  );
};

/** JSON in which equal values are equal bytes: keys sorted by UTF-16 unit, `undefined` left out, no white space. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));
