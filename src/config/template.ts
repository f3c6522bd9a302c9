// The instruction of a loop as a Liquid template. Strict: an unknown variable, filter or tag is an error that names its line.
//
// TPL-1 Values are put in as they are and never read as Liquid (L12): a template is parsed once, before any value is known.
// TPL-2 A template reads nothing but its variables: no files (include, render, layout, block), no clock (date filters).
// TPL-3 A template ends: time, memory and output are bounded.

import { analyzeSync, Liquid, type Template } from 'liquidjs';
import { type Issue, Rejection } from '../core/fault.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Trust } from '../core/task.ts';
import { oneLine } from '../core/text.ts';
import { cutBytes } from './cut-bytes.ts';
import { configFileBytes, promptBytes, templateMemoryUnits, templateMs } from './limits.ts';
import { nearest } from '../core/nearest.ts';

/** What a template may use. */
export interface PromptVariables {
  readonly task: {
    readonly key: string;
    readonly title: string;
    readonly body: string;
    readonly evidence: string;
    readonly source: string;
    readonly trust: Trust;
    readonly touches: readonly string[];
  };
  readonly goal: string;
  readonly attempt: { readonly number: number; readonly max: number };
  /** Empty texts and an empty list on the first attempt. */
  readonly previous: { readonly summary: string; readonly evidence: string; readonly reasons: readonly string[] };
  readonly loop: { readonly name: string };
  /** Commands of the checks. */
  readonly checks: readonly string[];
}

/** The names of the above, for checking a template before there are values. */
const knownVariables: { readonly [Name in keyof PromptVariables]: readonly string[] } = {
  task: ['key', 'title', 'body', 'evidence', 'source', 'trust', 'touches'],
  goal: [],
  attempt: ['number', 'max'],
  previous: ['summary', 'evidence', 'reasons'],
  loop: ['name'],
  checks: [],
};

const makeEngine = (): Liquid => {
  const engine = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    parseLimit: configFileBytes,
    renderLimit: templateMs,
    memoryLimit: templateMemoryUnits,
  });
  for (const tag of ['include', 'render', 'layout', 'block']) delete engine.tags[tag];
  for (const filter of Object.keys(engine.filters)) if (filter.startsWith('date')) delete engine.filters[filter];
  return engine;
};

// Building an engine takes some milliseconds; one is enough, because parsing and rendering keep no state in it.
let shared: Liquid | undefined;
const engineOnce = (): Liquid => (shared ??= makeEngine());

/** The parts of a template that messages need. */
export type TemplateSource = Pick<LoopDefinition, 'file' | 'body' | 'bodyLine'>;

const place = (source: TemplateSource, row: number, column: number): Issue['origin'] => ({
  file: source.file,
  line: source.bodyLine + row - 1,
  column,
});

const failureIssue = (source: TemplateSource, error: unknown): Issue => {
  const { originalError, token, message } = error as {
    originalError?: Error;
    token?: { getPosition?(): [number, number] };
    message?: string;
  };
  const [row, column] = token?.getPosition?.() ?? [1, 1];
  const what = oneLine((originalError?.message ?? message ?? String(error)).replace(/, line:\d+, col:\d+$/, ''));
  const [, kind, name = ''] = /^undefined (filter|variable): (.+)$/.exec(what) ?? [];
  const known = kind === 'filter' ? Object.keys(engineOnce().filters) : kind === 'variable' ? Object.keys(knownVariables) : [];
  const near = nearest(name, known);
  return {
    origin: place(source, row, column),
    key: '',
    found: kind === undefined ? `a template error: ${what}` : `the unknown ${kind} ${name}`,
    wanted:
      kind === undefined
        ? 'a Liquid template'
        : kind === 'filter'
          ? 'a filter of Liquid (without those for dates)'
          : `one of ${known.join(', ')}`,
    ...(near === undefined ? {} : { nearest: near }),
  };
};

interface UsedVariable {
  readonly segments: readonly unknown[];
  readonly row: number;
  readonly column: number;
}

/** Every variable a parsed template takes from outside, in all of its branches. */
const usedVariables = (template: Template[]): readonly UsedVariable[] =>
  Object.values(analyzeSync(template, { partials: false }).globals)
    .flat()
    .map((variable) => ({ segments: variable.segments, row: variable.location.row, column: variable.location.col }));

const variableIssue = (source: TemplateSource, { segments: [root, field], row, column }: UsedVariable): Issue | undefined => {
  const name = String(root);
  const fields = Object.hasOwn(knownVariables, name) ? knownVariables[name as keyof PromptVariables] : undefined;
  // A field that is itself computed, and what stands below a list, show only when values are there.
  const isKnown = fields !== undefined && (typeof field !== 'string' || fields.length === 0 || fields.includes(field));
  if (isKnown) return undefined;
  const known = fields === undefined ? Object.keys(knownVariables) : fields.map((each) => `${name}.${each}`);
  const full = fields === undefined ? name : `${name}.${String(field)}`;
  const near = nearest(full, known);
  return {
    origin: place(source, row, column),
    key: '',
    found: `the unknown variable ${oneLine(full, 60)}`,
    wanted: `one of ${known.join(', ')}`,
    ...(near === undefined ? {} : { nearest: near }),
  };
};

const parse = (source: TemplateSource): Template[] | Issue => {
  try {
    return engineOnce().parse(source.body);
  } catch (error) {
    return failureIssue(source, error);
  }
};

/** Everything that is wrong with a template and can be known before there are values. */
export const templateIssues = (source: TemplateSource): readonly Issue[] => {
  const template = parse(source);
  if (!Array.isArray(template)) return [template];
  return usedVariables(template)
    .toSorted((a, b) => a.row - b.row || a.column - b.column)
    .map((variable) => variableIssue(source, variable))
    .filter((issue) => issue !== undefined);
};

/** Whether a template uses a variable, e.g. `goal`. */
export const mentions = (source: TemplateSource, name: keyof PromptVariables): boolean => {
  const template = parse(source);
  return Array.isArray(template) && usedVariables(template).some(({ segments }) => segments[0] === name);
};

/**
 * The instruction of a loop with values put in, cut in its middle with a note above 400 KB.
 * @throws Rejection for an unknown variable, filter or tag, with the line of the loop file
 */
export const renderPrompt = (definition: TemplateSource, variables: PromptVariables): string => {
  const issues = [...templateIssues(definition)];
  const template = parse(definition);
  if (issues.length === 0 && Array.isArray(template)) {
    try {
      return cutBytes(String(engineOnce().renderSync(template, { ...variables })), promptBytes);
    } catch (error) {
      issues.push(failureIssue(definition, error));
    }
  }
  throw new Rejection(`The instruction in ${definition.file} cannot be filled in.`, { issues });
};
