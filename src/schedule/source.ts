import type { EpochMs } from '../core/ids.ts';

/** Something that happened, as a source saw it. */
export interface SourceEvent {
  /** Last part of the window's id. At most 200 letters. */
  readonly part: string;
  readonly cause: Readonly<Record<string, string>>;
}

export interface SourceLook {
  readonly events: readonly SourceEvent[];
  /** What the next look compares with. */
  readonly seen: Readonly<Record<string, string>>;
}

/** What an event trigger looks at. */
export interface Source {
  /** Whether the same part is the same event (a tick ends once), or may come again (a branch returns to a commit). */
  readonly parts: 'unique' | 'repeatable';
  /** Time between two looks when nothing hints at a change. */
  readonly pollMs: number;
  /** @param seen what the last look saw, `undefined` at the first one, which only takes note. @throws Fault when it cannot look */
  look(seen: Readonly<Record<string, string>> | undefined, now: EpochMs): Promise<SourceLook>;
  /** Calls `poke` when a look is worth it. Bounded, and allowed to miss changes: `pollMs` is the net. */
  hint(poke: () => void): Disposable;
}

export const noHints: Disposable = { [Symbol.dispose]: () => {} };
