// Scenarios from a file: JSON, or a module whose default export is the scenarios. What is wrong in it is said before the server starts.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from './neutral.ts';
import { isObject } from './neutral.ts';
import type { Scenario, Scenarios, Step } from './scenario.ts';

// Every key, and for operations and faults the keys that go with each kind.
const stepKeys = ['text', 'thinking', 'ops', 'usage', 'stop', 'faults'];
const usageKeys = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'];
const operationKeys: Readonly<Record<string, readonly string[]>> = {
  write: ['path', 'content'],
  edit: ['path', 'from', 'to'],
  read: ['path'],
  bash: ['command'],
  answer: ['value'],
  tool: ['name', 'input'],
};
const faultKeys: Readonly<Record<string, readonly string[]>> = {
  status: ['status', 'retryAfterS?'],
  overflow: [],
  drop: [],
  'error-event': [],
  hang: ['at'],
  slow: ['chunkMs'],
  'broken-tool-json': [],
};

class BadScenario extends Error {}

const wrong = (at: string, sentence: string): never => {
  throw new BadScenario(`${at}: ${sentence}`);
};

const checkKeys = (at: string, value: JsonObject, known: readonly string[]): void => {
  for (const key of Object.keys(value)) if (!known.includes(key)) wrong(at, `unknown key ${key}; known: ${known.join(', ')}`);
};

/** Checks one operation or fault: its kind, the keys that the kind must have, and that there are no others. */
const checkKind = (at: string, value: unknown, kind: 'op' | 'fault'): void => {
  if (!isObject(value)) return wrong(at, 'not an object');
  const kinds = kind === 'op' ? operationKeys : faultKeys;
  const name = String(value[kind]);
  const keys = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (keys === undefined) return wrong(at, `unknown ${kind} ${name}; known: ${Object.keys(kinds).join(', ')}`);
  const plain = keys.map((key) => key.replace('?', ''));
  checkKeys(at, value, [kind, ...plain, ...(kind === 'fault' ? ['times'] : [])]);
  for (const key of keys) if (!key.endsWith('?') && value[key] === undefined) wrong(at, `${key} is missing`);
};

const listAt = (at: string, value: unknown): readonly unknown[] => (Array.isArray(value) ? value : wrong(at, 'not a list'));

const checkStep = (at: string, step: unknown): void => {
  if (!isObject(step)) return wrong(at, 'not an object');
  checkKeys(at, step, stepKeys);
  for (const [i, op] of listAt(`${at}.ops`, step['ops'] ?? []).entries()) checkKind(`${at}.ops[${i}]`, op, 'op');
  for (const [i, fault] of listAt(`${at}.faults`, step['faults'] ?? []).entries()) checkKind(`${at}.faults[${i}]`, fault, 'fault');
  if (isObject(step['usage'])) checkKeys(`${at}.usage`, step['usage'], usageKeys);
};

const parseEntry = (name: string, entry: unknown): Scenario => {
  const long = isObject(entry) ? entry : { steps: entry };
  checkKeys(name, long, ['match', 'steps']);
  const steps = listAt(`${name}.steps`, long['steps']);
  for (const [i, step] of steps.entries()) checkStep(`${name}.steps[${i}]`, step);
  const match = typeof long['match'] === 'string' ? new RegExp(long['match']) : long['match'];
  const parsed: Scenario = { steps: steps as readonly Step[] };
  if (match === undefined) return parsed;
  return match instanceof RegExp || typeof match === 'function'
    ? { ...parsed, match: match as NonNullable<Scenario['match']> }
    : wrong(`${name}.match`, 'neither a pattern nor a function');
};

/**
 * @param value the parsed file: scenario name to a list of steps, or to `{ match, steps }`; in JSON `match` is a pattern's source
 * @throws an Error whose message names the place, as in `fix.steps[0].ops[1]: content is missing`
 */
export const parseScenarios = (value: unknown): Scenarios => {
  if (!isObject(value)) return wrong('scenarios', 'not an object of scenarios by name');
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, parseEntry(name, entry)]));
};

/** @param file path of a `.json` file or of a module */
export const readScenarios = async (file: string): Promise<Scenarios> => {
  if (path.extname(file) === '.json') return parseScenarios(JSON.parse(await readFile(file, 'utf8')));
  const module: unknown = await import(pathToFileURL(path.resolve(file)).href);
  return parseScenarios(isObject(module) ? module['default'] : undefined);
};
