import type { Origin } from '../core/fault.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';

/** One resolved value and where it came from. */
export interface ConfigValue {
  readonly key: string;
  readonly value: unknown;
  readonly origin: { readonly from: 'default' } | ({ readonly from: 'file' } & Origin);
}

export interface LoadedLoop {
  readonly definition: LoopDefinition;
  readonly values: readonly ConfigValue[];
}

export interface ConfigSource {
  /** Folder that holds `.gyre`; agents and checks run in the same folder of their checkout. */
  readonly home: string;
  /** Names of the loop files, sorted. */
  names(): Promise<readonly string[]>;
  /** @throws Rejection with every issue of the file at once */
  load(name: string): Promise<LoadedLoop>;
}
