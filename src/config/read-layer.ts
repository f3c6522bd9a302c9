// One file against one schema, section by section: a section that is wrong does not hide what is wrong in another.

import { z } from 'zod';
import type { Issue, Origin } from '../core/fault.ts';
import { oneLine } from '../core/text.ts';
import { foundText } from '../core/issue-text.ts';
import { nearest } from '../core/nearest.ts';
import type { Path, YamlSource } from './yaml-source.ts';

/** What one source of values says. */
export interface Layer<Input> {
  readonly file: string;
  /** Only sections that fit their schema. */
  readonly input: Partial<Input>;
  /** Sections that do not, or that may stand in the file under a mistyped name. */
  readonly bad: ReadonlySet<string>;
  readonly issues: readonly Issue[];
  readonly originOf: (path: Path, part: 'key' | 'value') => Origin;
}

type ZodIssue = z.core.$ZodIssue;

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const valueAt = (data: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<string | number, unknown>)[step]
        : undefined,
    data,
  );

/** Keys that the schema knows at a path. */
const knownKeysAt = (schema: z.core.$ZodType, path: Path): readonly string[] => {
  if (schema instanceof z.ZodOptional) return knownKeysAt(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => knownKeysAt(option, path));
  const [step, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    if (step === undefined) return Object.keys(schema.shape);
    const next: unknown = (schema.shape as Record<string, unknown>)[String(step)];
    return next instanceof z.ZodType ? knownKeysAt(next, rest) : [];
  }
  if (step === undefined) return [];
  if (schema instanceof z.ZodArray) return knownKeysAt(schema.element, rest);
  if (schema instanceof z.ZodRecord) return knownKeysAt(schema.valueType, rest);
  return [];
};

/** A union fails with the issues of the one branch that fits the kind of the value (a map against the map), else with its own. */
const unfold = (issue: ZodIssue): readonly ZodIssue[] => {
  if (issue.code !== 'invalid_union') return [issue];
  const without = (codes: readonly ZodIssue['code'][]): readonly ZodIssue[] | undefined =>
    issue.errors.find((issues) => issues.every(({ path, code }) => path.length > 0 || !codes.includes(code)));
  const branch = without(['invalid_type', 'invalid_union', 'invalid_value']) ?? without(['invalid_type', 'invalid_union']);
  if (branch === undefined) return [issue];
  return branch.flatMap((inner) => unfold({ ...inner, path: [...issue.path, ...inner.path] }));
};

/** The issues of one section as Zod sees them, without "missing" where a mistyped key of the same map explains it. */
const flat = (issues: readonly ZodIssue[]): readonly ZodIssue[] => {
  const all = issues.flatMap(unfold);
  const mistyped = new Set(all.filter(({ code }) => code === 'unrecognized_keys').map(({ path }) => path.join('.')));
  const isExplained = (issue: ZodIssue): boolean =>
    issue.code === 'custom' &&
    issue.params?.['isMissing'] === true &&
    [issue.path, issue.path.slice(0, -1)].some((path) => mistyped.has(path.join('.')));
  return all.filter((issue) => !isExplained(issue));
};

interface Place {
  readonly source: Pick<YamlSource, 'data' | 'originOf'>;
  readonly schema: z.core.$ZodType;
  readonly section: string;
}

const toIssues = (issue: ZodIssue, { source, schema, section }: Place): readonly Issue[] => {
  const inner: Path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  const path = [section, ...inner];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey({ source, path, key, known: knownKeysAt(schema, inner) }));
  if (issue.code === 'invalid_key')
    return [
      {
        origin: source.originOf(path, 'key'),
        key: path.join('.'),
        found: foundText(inner.at(-1)),
        wanted: issue.issues[0]?.message ?? issue.message,
      },
    ];
  const found = valueAt(source.data, path);
  const told: unknown = issue.code === 'custom' ? issue.params?.['found'] : undefined;
  const toldNear: unknown = issue.code === 'custom' ? issue.params?.['nearest'] : undefined;
  const near =
    issue.code === 'invalid_value' && typeof found === 'string'
      ? nearest(found, issue.values.map(String))
      : typeof toldNear === 'string'
        ? toldNear
        : undefined;
  return [
    {
      origin: source.originOf(path, found === undefined || typeof told === 'string' ? 'key' : 'value'),
      key: path.join('.'),
      found: typeof told === 'string' ? told : foundText(found),
      wanted: issue.message,
      ...(near === undefined ? {} : { nearest: near }),
    },
  ];
};

const unknownKey = ({
  source,
  path,
  key,
  known,
}: {
  readonly source: Place['source'];
  readonly path: Path;
  readonly key: string;
  readonly known: readonly string[];
}): Issue => {
  const near = nearest(key, known);
  return {
    origin: source.originOf([...path, key], 'key'),
    key: [...path, oneLine(key, 60)].join('.'),
    found: 'an unknown key',
    wanted: `one of ${known.join(', ')}`,
    ...(near === undefined ? {} : { nearest: near }),
  };
};

/**
 * Checks a source against the sections of a schema.
 * @param shape sections by name
 */
export const readLayer = <Input>(source: YamlSource, shape: Readonly<Record<string, z.ZodType>>): Layer<Input> => {
  const issues: Issue[] = [...source.issues];
  // What could not be read must not be reported as missing.
  const bad = new Set<string>(source.issues.length > 0 || !isMap(source.data ?? {}) ? Object.keys(shape) : []);
  const input: Record<string, unknown> = {};
  const data = source.data ?? {};
  if (!isMap(data))
    issues.push({ origin: source.originOf([], 'value'), key: '', found: foundText(data), wanted: 'a map of keys and values' });
  else
    for (const [section, value] of Object.entries(data)) {
      const schema = Object.hasOwn(shape, section) ? shape[section] : undefined;
      if (schema === undefined) {
        const issue = unknownKey({ source, path: [], key: section, known: Object.keys(shape) });
        issues.push(issue);
        if (issue.nearest !== undefined) bad.add(issue.nearest);
        continue;
      }
      const result = schema.safeParse(value);
      if (result.success && value !== undefined) input[section] = result.data;
      if (result.success) continue;
      bad.add(section);
      for (const issue of flat(result.error.issues)) issues.push(...toIssues(issue, { source, schema, section }));
    }
  return { file: source.file, input: input as Partial<Input>, bad, issues, originOf: source.originOf };
};
