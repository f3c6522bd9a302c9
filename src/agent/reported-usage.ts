import type { ModelUsage } from '../core/spend.ts';
import type { JsonObject } from './json-fields.ts';
import { numberAt, objectAt, textAt } from './json-fields.ts';

/** Usage and cost as one line of a program's output reports them. Tokens or dollars that it does not name are `undefined`. */
export interface ReportedUsage {
  readonly session: string | undefined;
  readonly usage: ModelUsage | undefined;
  readonly usd: number | undefined;
  /** Total of this process so far. */
  readonly processUsd: number | undefined;
  /** `line`: this line's own share. `session`: the session's total so far, over all its processes. */
  readonly counts: 'line' | 'session';
}

const first = (object: JsonObject | undefined, keys: readonly string[]): number | undefined =>
  keys.map((key) => numberAt(object, key)).find((value) => value !== undefined);

/** Name for tokens whose model the line does not say. */
export const unnamedModel = 'unnamed';

const usageOf = (line: JsonObject): ModelUsage | undefined => {
  const usage = objectAt(line, 'usage');
  const fresh = first(usage, ['input', 'input_tokens', 'inputTokens']);
  // OpenAI's spellings count cached tokens as a part of the input; here `input` is fresh tokens alone.
  const whole = first(usage, ['prompt_tokens', 'promptTokens']);
  const details = objectAt(usage, 'input_tokens_details') ?? objectAt(usage, 'prompt_tokens_details');
  const part = first(usage, ['cached_input_tokens']) ?? first(details, ['cached_tokens']);
  const apart = first(usage, ['cacheRead', 'cache_read', 'cache_read_tokens', 'cache_read_input_tokens', 'cacheReadInputTokens']);
  const cacheWrite = first(usage, [
    'cacheWrite',
    'cache_write',
    'cache_write_tokens',
    'cache_creation_input_tokens',
    'cacheCreationInputTokens',
  ]);
  const output = first(usage, ['output', 'output_tokens', 'outputTokens', 'completion_tokens', 'completionTokens']);
  const input = fresh ?? whole;
  if ([input, part, apart, cacheWrite, output].every((value) => value === undefined)) return undefined;
  return {
    model: textAt(line, 'model') ?? unnamedModel,
    input: Math.max(0, (input ?? 0) - (part ?? 0)),
    cacheRead: apart ?? part ?? 0,
    cacheWrite: cacheWrite ?? 0,
    output: output ?? 0,
  };
};

/** What a line reports, or `undefined` when it reports nothing. The spellings are listed in docs/reference/agents.md. */
export const reportedUsage = (line: JsonObject): ReportedUsage | undefined => {
  const usage = usageOf(line);
  const usd = numberAt(line, 'cost_usd');
  const processUsd = numberAt(line, 'total_cost_usd');
  if (usage === undefined && usd === undefined && processUsd === undefined) return undefined;
  const session = textAt(line, 'session_id');
  return line['cumulative'] === true
    ? { session, usage, usd: usd ?? processUsd, processUsd: undefined, counts: 'session' }
    : { session, usage, usd, processUsd, counts: 'line' };
};
