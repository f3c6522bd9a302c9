// What happens in one comparison: programs for handlers, and what reaches them from outside, at instants that never coincide with a
// timer of theirs (those are multiples of ten).
import * as fc from 'fast-check';

export type Leaf =
  | { readonly do: 'step' | 'fail' | 'record' | 'value' }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'charge'; readonly amount: number };

export type Operation =
  | Leaf
  | { readonly do: 'throw' }
  | { readonly do: 'retry'; readonly failures: number; readonly max: number }
  | { readonly do: 'wait'; readonly signal: 'a' | 'b'; readonly timeoutMs: number | undefined }
  | { readonly do: 'child'; readonly program: readonly Leaf[]; readonly isAwaited: boolean }
  | { readonly do: 'map'; readonly items: number; readonly concurrency: number; readonly each: Leaf }
  | { readonly do: 'race'; readonly first: Leaf };

export type Happening =
  | { readonly at: number; readonly what: 'signal'; readonly run: number; readonly signal: 'a' | 'b' }
  | { readonly at: number; readonly what: 'cancel'; readonly run: number }
  | { readonly at: number; readonly what: 'kill' };

export interface Crash {
  /** Which write of an engine's life it falls on. */
  readonly write: number;
  readonly when: 'before' | 'after';
}

export interface Scenario {
  readonly programs: readonly (readonly Operation[])[];
  readonly happenings: readonly Happening[];
  readonly crashes: readonly Crash[];
}

const tens = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max }).map((count) => count * 10);
const signal = fc.constantFrom('a' as const, 'b' as const);

const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('step' as const, 'step' as const, 'fail' as const, 'record' as const, 'value' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sleep' as const), ms: tens(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('charge' as const), amount: fc.integer({ min: 1, max: 3 }) }) },
);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: leaf },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('throw' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      failures: fc.integer({ min: 0, max: 3 }),
      max: fc.integer({ min: 0, max: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), signal, timeoutMs: fc.option(tens(8), { nil: undefined }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('child' as const),
      program: fc.array(leaf, { minLength: 1, maxLength: 3 }),
      isAwaited: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('map' as const),
      items: fc.integer({ min: 1, max: 4 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      each: leaf,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('race' as const), first: leaf }) },
);

const run = fc.integer({ min: 0, max: 1 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('signal' as const), run, signal, at: tens(20).map((at) => at + 3) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('cancel' as const), run, at: tens(20).map((at) => at + 5) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('kill' as const), at: tens(20).map((at) => at + 7) }) },
);

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  programs: fc.array(fc.array(operation, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 2 }),
  happenings: fc.array(happening, { maxLength: 5 }).map((all) => all.toSorted((a, b) => a.at - b.at)),
  crashes: fc.array(fc.record({ write: fc.integer({ min: 1, max: 14 }), when: fc.constantFrom('before' as const, 'after' as const) }), {
    maxLength: 4,
  }),
});
