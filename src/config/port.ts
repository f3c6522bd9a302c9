import type { Origin } from '../core/fault.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';

/** One resolved value, as a person would write it, and where it came from. */
export interface ConfigValue {
  /** Dotted path, e.g. `stop.attempts`, `verify.0.run`. */
  readonly key: string;
  readonly value: unknown;
  readonly origin: { readonly from: 'default' } | ({ readonly from: 'file' } & Origin);
}

/** A key that is valid and has no effect in this version. Shown where the user looks (L15). */
export interface ConfigNotice {
  readonly key: string;
  readonly origin: Origin;
  /** What is not done, and what to do instead. */
  readonly sentence: string;
}

export interface LoadedLoop {
  readonly definition: LoopDefinition;
  readonly values: readonly ConfigValue[];
  readonly notices: readonly ConfigNotice[];
}

/** A file that was read: `file` is the name used in messages. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

export interface ConfigSource {
  /** Folder that holds `.gyre` (or `gyre.yaml`, where there is no `.gyre`); agents and checks run in the same folder of their checkout. */
  readonly home: string;
  /** Names of the loop files, sorted. */
  names(): Promise<readonly string[]>;
  /** @throws Rejection with every issue of the loop file and of `gyre.yaml` at once */
  load(name: string): Promise<LoadedLoop>;
  /** The text of `gyre.yaml`, for `goalLoop`; `undefined` where there is none. @throws Rejection when it cannot be read */
  shared(): Promise<SourceText | undefined>;
}
