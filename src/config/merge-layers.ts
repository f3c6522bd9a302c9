// The loop file wins over gyre.yaml, which wins over the defaults; each value remembers who said it.

import type { Origin } from '../core/fault.ts';
import type { LandingKind } from '../core/loop-definition.ts';
import { defaults } from './defaults.ts';
import type { GyreInput } from './gyre-schema.ts';
import type { LoopInput } from './loop-schema.ts';
import type { ConfigValue } from './port.ts';
import type { Layer } from './read-layer.ts';
import type { Path } from './yaml-source.ts';

type Filled<Section, Keys extends keyof NonNullable<Section>> = Omit<NonNullable<Section>, Keys> & {
  readonly [Key in Keys]-?: NonNullable<NonNullable<Section>[Key]>;
};

/** The front matter with every default filled in; shorthands written out. */
export interface MergedInput extends Omit<LoopInput, 'land'> {
  readonly description: string;
  readonly agent: NonNullable<LoopInput['agent']>;
  readonly workspace: Filled<LoopInput['workspace'], 'setup-timeout' | 'share' | 'sandbox'>;
  readonly protect: NonNullable<LoopInput['protect']>;
  readonly stop: Filled<LoopInput['stop'], keyof typeof defaults.stop>;
  readonly land: {
    readonly as: LandingKind;
    readonly target?: string | undefined;
    readonly sign: 'auto' | 'never';
  };
  readonly parallel: number;
  readonly notes: NonNullable<LoopInput['notes']>;
  /** `undefined` where nobody wrote it: what it then means depends on `discover`. */
  readonly goal: string | undefined;
}

export interface Merged {
  readonly input: MergedInput;
  readonly values: readonly ConfigValue[];
  /** Where the winning value of a path was written; the loop's file as a whole for a default. */
  readonly originOf: (path: Path, part: 'key' | 'value') => Origin;
}

/** Sections whose keys are merged one by one; every other section is taken whole from the first layer that has it. */
const byKey: ReadonlySet<string> = new Set(['workspace', 'stop', 'land', 'memory']);
/** Sections that loops take over from gyre.yaml. */
const taken: readonly (keyof GyreInput & keyof LoopInput)[] = ['agent', 'workspace', 'protect', 'stop', 'land'];

const asMap = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

interface Choice {
  readonly value: unknown;
  readonly layer: Layer<unknown> | undefined;
}

/** Scalars and lists of scalars are one value; maps and lists of maps are walked into. */
const flatten = (value: unknown, path: Path): readonly { readonly path: Path; readonly value: unknown }[] => {
  const isLeaf = typeof value !== 'object' || value === null || (Array.isArray(value) && value.every((item) => typeof item !== 'object'));
  if (isLeaf) return [{ path, value }];
  return Object.entries(value).flatMap(([key, item]) => flatten(item, [...path, Array.isArray(value) ? Number(key) : key]));
};

/** `land: branch` is short for `land: { as: branch }`. */
const writtenOut = (section: string, value: unknown): unknown => (section === 'land' && typeof value === 'string' ? { as: value } : value);

export const mergeLayers = (loop: Layer<LoopInput>, shared: Layer<GyreInput> | undefined): Merged => {
  const sharedPart = Object.fromEntries(
    taken.filter((section) => shared?.input[section] !== undefined).map((section) => [section, shared?.input[section]]),
  );
  const layers: readonly { readonly input: Readonly<Record<string, unknown>>; readonly layer: Layer<unknown> | undefined }[] = [
    { input: loop.input, layer: loop },
    { input: sharedPart, layer: shared },
    // The default goal depends on where tasks come from, and is filled in there.
    { input: { ...defaults, goal: undefined }, layer: undefined },
  ];

  const input: Record<string, unknown> = {};
  const chosen: { readonly path: readonly [string] | readonly [string, string]; readonly choice: Choice }[] = [];
  for (const section of new Set(layers.flatMap((layer) => Object.keys(layer.input)))) {
    const said = layers
      .map(({ input: from, layer }) => ({ value: writtenOut(section, from[section]), layer }))
      .filter(({ value }) => value !== undefined);
    const first = said[0];
    if (first === undefined) continue;
    if (!byKey.has(section)) {
      input[section] = first.value;
      chosen.push({ path: [section], choice: first });
      continue;
    }
    const map: Record<string, unknown> = {};
    for (const key of new Set(said.flatMap(({ value }) => Object.keys(asMap(value))))) {
      const winner = said.map(({ value, layer }) => ({ value: asMap(value)[key], layer })).find(({ value }) => value !== undefined);
      if (winner === undefined) continue;
      map[key] = winner.value;
      chosen.push({ path: [section, key], choice: winner });
    }
    input[section] = map;
  }

  const layerOf = (path: Path): Layer<unknown> | undefined =>
    chosen.find(({ path: [section, key] }) => section === path[0] && (key === undefined || path.length === 1 || key === path[1]))?.choice
      .layer;
  const values = chosen.flatMap(({ path, choice: { value, layer } }) =>
    flatten(value, path).map((leaf): ConfigValue => ({
      key: leaf.path.join('.'),
      value: leaf.value,
      origin: layer === undefined ? { from: 'default' } : { from: 'file', ...layer.originOf(leaf.path, 'value') },
    })),
  );
  return {
    // Each section went through its schema, and the defaults have the shape of `defaults`.
    input: { goal: undefined, ...input } as unknown as MergedInput,
    values: values.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    originOf: (path, part) => layerOf(path)?.originOf(path, part) ?? { file: loop.file },
  };
};
