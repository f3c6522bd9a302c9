// The format of a scripted agent's file, documented in docs/reference/scripted-agent.md.
import { LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { z } from 'zod';
import { Rejection } from '../core/fault.ts';
import type { Issue } from '../core/fault.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const sleepMsMax = 24 * 3_600_000;

/** `500ms`, `2s`, `1m`, `1h` in milliseconds. */
const durationMs = z
  .string()
  .regex(/^\d+(?:\.\d+)?(?:ms|s|m|h)$/, 'a duration such as 500ms, 2s or 1m')
  .transform((text) => Number.parseFloat(text) * (units[text.replace(/^[\d.]+/, '')] ?? 1))
  .refine((ms) => ms <= sleepMsMax, 'at most 24h');

const attempts = z.union([
  z.int().positive(),
  z.string().regex(/^[1-9]\d*\+$/, 'an attempt such as 1, or "2+" for the second and all later ones'),
]);

// In the order of `stepNames`, by which an issue finds the step that was meant.
const step = z.union([
  z.strictObject({ edit: z.strictObject({ file: z.string().min(1), find: z.string().min(1), replace: z.string() }) }),
  z.strictObject({ write: z.strictObject({ file: z.string().min(1), text: z.string() }) }),
  z.strictObject({ delete: z.string().min(1) }),
  z.strictObject({ run: z.string().min(1) }),
  z.strictObject({ print: z.string() }),
  z.strictObject({ sleep: durationMs }),
  z.strictObject({ 'expect-prompt': z.strictObject({ contains: z.string().min(1) }) }),
  z.strictObject({ commit: z.string().min(1) }),
  z.strictObject({ exit: z.int().min(0).max(255) }),
]);

const entry = z.strictObject({
  when: z
    .strictObject({
      task: z.string().optional(),
      title: z.string().optional(),
      attempt: attempts.optional(),
      prompt: z.string().optional(),
    })
    .default({}),
  steps: z.array(step).min(1),
});

const script = z.strictObject({ entries: z.array(entry).min(1) });

export type Script = z.infer<typeof script>;
export type ScriptEntry = z.infer<typeof entry>;
export type ScriptStep = z.infer<typeof step>;

const stepNames = ['edit', 'write', 'delete', 'run', 'print', 'sleep', 'expect-prompt', 'commit', 'exit'] as const;

const dotted = (keys: readonly PropertyKey[]): string =>
  keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');

const shown = (value: unknown): string => (value === undefined ? 'nothing' : (JSON.stringify(value) ?? typeof value).slice(0, 120));

/** Of a union of steps, the fault of the step that was meant: the one whose name stands there. */
const meant = (issue: z.core.$ZodIssue, value: unknown): readonly z.core.$ZodIssue[] => {
  if (issue.code !== 'invalid_union' || issue.path[2] !== 'steps') return [issue];
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const at = stepNames.findIndex((name) => name === names[0]);
  const inner = names.length === 1 && at !== -1 ? issue.errors[at] : undefined;
  if (inner !== undefined) return inner.map((part) => ({ ...part, path: [...issue.path, ...part.path] }));
  return [{ code: 'custom', path: issue.path, message: `one step of: ${stepNames.join(', ')}`, input: value }];
};

const valueAt = (root: unknown, keys: readonly PropertyKey[]): unknown =>
  keys.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined),
    root,
  );

const lineOf = (document: Document, counter: LineCounter, keys: readonly PropertyKey[]): number | undefined => {
  for (let length = keys.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(keys.slice(0, length), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? (node.range as readonly number[] | null) : null;
    if (range?.[0] !== undefined) return counter.linePos(range[0]).line;
  }
  return undefined;
};

/**
 * Reads a script.
 * @param file for messages
 * @throws {Rejection} with every issue and its line
 */
export const parseScript = (text: string, file: string): Script => {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true });
  const syntax = document.errors.map((error): Issue => ({
    origin: { file, line: error.linePos?.[0].line ?? 1 },
    key: '',
    found: error.message.split('\n', 1)[0] ?? '',
    wanted: 'valid YAML',
  }));
  if (syntax.length > 0) throw new Rejection(`The script ${file} is not valid YAML.`, { issues: syntax });
  const root: unknown = document.toJS();
  const read = script.safeParse(root);
  if (read.success) return read.data;
  const issues = read.error.issues
    .flatMap((issue) => meant(issue, valueAt(root, issue.path)))
    .map((issue): Issue => {
      const line = lineOf(document, counter, issue.path);
      return {
        origin: line === undefined ? { file } : { file, line },
        key: dotted(issue.path),
        found: shown(valueAt(root, issue.path)),
        wanted: issue.message,
      };
    });
  throw new Rejection(`The script ${file} is not a valid agent script: ${issues.length} problems.`, {
    issues,
    hint: 'The format is described in docs/reference/scripted-agent.md.',
  });
};
