import type { ModelUsage, Spend } from '../core/spend.ts';
import { tokensOf, unknownSpend } from '../core/spend.ts';
import type { JsonObject } from './json-fields.ts';
import { asObject, numberAt, objectAt, textAt } from './json-fields.ts';

export interface ClaudeUsage {
  readonly usage: readonly ModelUsage[];
  readonly spend: Spend;
  readonly source: 'agent' | 'none';
}

/**
 * Usage and cost of a session from its newest `result` event. `modelUsage` and `total_cost_usd` cover the whole session with its
 * sub-agents; `usage` misses sub-agents and the last call before a budget stop, and is not read. `modelUsage` is a running total, so
 * of two results the newer one replaces the older.
 */
export const claudeUsage = (result: JsonObject | undefined): ClaudeUsage => {
  const perModel = objectAt(result, 'modelUsage');
  if (perModel === undefined) return { usage: [], spend: unknownSpend, source: 'none' };
  const entries = Object.entries(perModel).map(([model, value]) => ({ model, value: asObject(value) }));
  const usage = entries.map(({ model, value }) => ({
    model,
    input: numberAt(value, 'inputTokens') ?? 0,
    cacheRead: numberAt(value, 'cacheReadInputTokens') ?? 0,
    cacheWrite: numberAt(value, 'cacheCreationInputTokens') ?? 0,
    output: numberAt(value, 'outputTokens') ?? 0,
  }));
  // For a model without a list price the program counts with the price of another and says so.
  const guessed = entries.some(({ value }) => textAt(value, 'costBasis') === 'unknown');
  const usd = guessed ? undefined : numberAt(result, 'total_cost_usd');
  return { usage, spend: { usd, tokens: tokensOf(usage) }, source: 'agent' };
};
