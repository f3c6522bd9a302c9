import type { ModelUsage, Spend } from '../core/spend.ts';
import { tokensOf } from '../core/spend.ts';
import type { EarlierSession } from './port.ts';
import type { ReportedUsage } from './reported-usage.ts';

// Rules of the meter:
// 1. A line counts by itself and lines are added up.
// 2. A line that says `cumulative` replaces what its session reported before; the session's last line counts.
// 3. Of a session that an earlier attempt of the run already reported, only what was added since counts.
// 4. `total_cost_usd` is the process's own total so far: the last one of a session counts, whatever earlier attempts spent.
// 5. Dollars are known when any line gave dollars, tokens when any line gave tokens; else unknown, never 0 (L8).

const add = (a: ModelUsage, b: ModelUsage): ModelUsage => ({
  model: a.model,
  input: a.input + b.input,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  output: a.output + b.output,
});

// A total that is smaller than before was started anew, so all of it is new.
const since = (total: number, before: number): number => (total < before ? total : total - before);

const byModel = (parts: readonly ModelUsage[]): readonly ModelUsage[] => {
  const models = new Map<string, ModelUsage>();
  for (const part of parts) {
    const known = models.get(part.model);
    models.set(part.model, known === undefined ? part : add(known, part));
  }
  return [...models.values()];
};

/** Most models, and most sessions, that are kept apart. */
const keysMax = 1000;

/** Adds up what a program's lines report. */
export class SpendMeter {
  readonly #earlier: readonly EarlierSession[];
  readonly #lines = new Map<string, ModelUsage>();
  readonly #totals = new Map<string, Map<string, ModelUsage>>();
  readonly #usdTotals = new Map<string, number>();
  readonly #usdOfProcess = new Map<string, number>();
  #usdOfLines: number | undefined;
  #session: string | undefined;

  constructor(earlier: readonly EarlierSession[]) {
    this.#earlier = earlier;
  }

  /** Session named by the newest line. */
  get session(): string | undefined {
    return this.#session;
  }

  count(line: ReportedUsage): void {
    this.#session = line.session ?? this.#session;
    if (line.counts === 'session') this.#countTotal(line);
    else this.#countLine(line);
  }

  #countLine(line: ReportedUsage): void {
    if (line.usd !== undefined) this.#usdOfLines = (this.#usdOfLines ?? 0) + line.usd;
    const session = line.session ?? '';
    const isKept = this.#usdOfProcess.has(session) || this.#usdOfProcess.size < keysMax;
    if (line.processUsd !== undefined && isKept) this.#usdOfProcess.set(session, line.processUsd);
    if (line.usage === undefined) return;
    const key = this.#lines.has(line.usage.model) || this.#lines.size < keysMax ? line.usage.model : [...this.#lines.keys()].at(-1);
    if (key === undefined) return;
    const known = this.#lines.get(key);
    this.#lines.set(key, known === undefined ? line.usage : add(known, line.usage));
  }

  #countTotal(line: ReportedUsage): void {
    const session = line.session ?? '';
    if (this.#totals.size >= keysMax && !this.#totals.has(session)) {
      this.#countLine(line);
      return;
    }
    const models = this.#totals.get(session) ?? new Map<string, ModelUsage>();
    this.#totals.set(session, models);
    if (line.usd !== undefined) this.#usdTotals.set(session, line.usd);
    if (line.usage !== undefined && (models.has(line.usage.model) || models.size < keysMax)) models.set(line.usage.model, line.usage);
  }

  /** What this process added, per model and together. */
  total(): { readonly usage: readonly ModelUsage[]; readonly spend: Spend } {
    const parts: ModelUsage[] = [...this.#lines.values()];
    let usd = this.#usdOfLines;
    for (const total of this.#usdOfProcess.values()) usd = (usd ?? 0) + total;
    for (const [session, models] of this.#totals) {
      const before = this.#earlier.filter((result) => session !== '' && result.session.id === session);
      parts.push(...this.#addedSince(models, before));
      const total = this.#usdTotals.get(session);
      if (total !== undefined) {
        usd =
          (usd ?? 0) +
          since(
            total,
            before.reduce((sum, result) => sum + (result.spend.usd ?? 0), 0),
          );
      }
    }
    const usage = byModel(parts);
    return { usage, spend: { usd, tokens: usage.length === 0 ? undefined : tokensOf(usage) } };
  }

  #addedSince(models: ReadonlyMap<string, ModelUsage>, before: readonly EarlierSession[]): readonly ModelUsage[] {
    const known = byModel(before.flatMap((result) => result.usage));
    return [...models.values()].map((total) => {
      const old = known.find((part) => part.model === total.model);
      if (old === undefined) return total;
      return {
        model: total.model,
        input: since(total.input, old.input),
        cacheRead: since(total.cacheRead, old.cacheRead),
        cacheWrite: since(total.cacheWrite, old.cacheWrite),
        output: since(total.output, old.output),
      };
    });
  }
}
