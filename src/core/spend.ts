// Money and tokens. Unknown is a state of its own and never 0 (L8).

export interface ModelUsage {
  readonly model: string;
  /** Fresh input tokens: cache reads and writes not counted. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

export interface Spend {
  /** US dollars; `undefined` is unknown. */
  readonly usd: number | undefined;
  /** All tokens in and out; `undefined` is unknown. */
  readonly tokens: number | undefined;
}

export const noSpend: Spend = { usd: 0, tokens: 0 };
export const unknownSpend: Spend = { usd: undefined, tokens: undefined };

/** Sum in which one unknown part makes that column unknown. */
export const addSpend = (parts: readonly Spend[]): Spend => {
  const sum = (values: readonly (number | undefined)[]): number | undefined =>
    values.reduce<number | undefined>((total, value) => (total === undefined || value === undefined ? undefined : total + value), 0);
  return { usd: sum(parts.map((part) => part.usd)), tokens: sum(parts.map((part) => part.tokens)) };
};

/** The known part of a sum: a lower bound on what was spent, which is what a limit must be held against. */
export const knownSpend = (parts: readonly Spend[]): { readonly usd: number; readonly tokens: number } => ({
  usd: parts.reduce((total, part) => total + (part.usd ?? 0), 0),
  tokens: parts.reduce((total, part) => total + (part.tokens ?? 0), 0),
});

export const tokensOf = (usage: readonly ModelUsage[]): number =>
  usage.reduce((total, u) => total + u.input + u.cacheRead + u.cacheWrite + u.output, 0);

/** For people: `$0.12`, `unknown cost`, `$0 (no model)`. */
export const spendText = (spend: Spend): string => {
  const usd = spend.usd === undefined ? 'unknown cost' : `$${spend.usd.toFixed(spend.usd < 1 && spend.usd > 0 ? 4 : 2)}`;
  return spend.tokens === undefined ? usd : `${usd}, ${spend.tokens} tokens`;
};
