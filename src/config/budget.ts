export interface Budget {
  /** US dollars. */
  readonly usd: number | undefined;
  readonly tokens: number | undefined;
}

export const budgetPattern = /^(?:\$\d{1,6}(?:\.\d{1,4})?|\d{1,9}(?:\.\d{1,3})?[kKmM]? tokens)$/;

const factors: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 };

/**
 * A limit on money, on tokens, or on both: `$5`, `200k tokens`, `$5, 200k tokens`, or a list of such texts. `none` is no limit.
 * @returns `undefined` for anything else, for zero, and for two limits of one kind
 */
export const parseBudget = (value: string | readonly string[]): Budget | undefined => {
  const parts = (typeof value === 'string' ? value.split(',') : value).map((part) => part.trim());
  if (parts.length === 1 && parts[0] === 'none') return { usd: undefined, tokens: undefined };
  let usd: number | undefined;
  let tokens: number | undefined;
  for (const part of parts) {
    if (!budgetPattern.test(part)) return undefined;
    if (part.startsWith('$')) {
      if (usd !== undefined) return undefined;
      usd = Number(part.slice(1));
    } else {
      if (tokens !== undefined) return undefined;
      const [, digits = '', factor = ''] = /^([\d.]+)([km]?) tokens$/i.exec(part) ?? [];
      tokens = Math.round(Number(digits) * (factors[factor.toLowerCase()] ?? 1));
    }
  }
  return usd === 0 || tokens === 0 || parts.length === 0 ? undefined : { usd, tokens };
};
