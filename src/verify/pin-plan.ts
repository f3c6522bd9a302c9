import path from 'node:path';
import type { CommitSha } from '../core/ids.ts';
import type { TaskProof } from '../core/task.ts';
import type { Candidate } from '../workspace/index.ts';
import { gateWords, type GateWords } from './command-words.ts';
import { gateKindOf, type GateKind } from './gate-files.ts';
import { graftJson, graftSections, type Graft } from './graft.ts';
import type { CheckPin, ReadFileAt } from './port.ts';
import { isTestFile, isTestSupport } from './test-files.ts';

export interface PinPlan {
  /** What the pinned run holds as on base; `undefined` when nothing of it was changed, and then no pinned run is needed. */
  readonly pin: CheckPin | undefined;
  /** Changed files that define this check. */
  readonly gates: readonly string[];
}

interface PinRequest {
  readonly candidate: Candidate;
  readonly command: string;
  readonly prefix: string;
  readonly proof: TaskProof;
  readonly read: ReadFileAt;
}

/** Most package scripts followed from one command. */
const scriptsMax = 100;

/** Most files that define a check, and letters of each, read for what they take in. */
const bodiesMax = 20;
const bodyLettersMax = 100_000;

const makefile = /(?:^|\/)(?:GNUmakefile|[Mm]akefile|[^/]*\.mk)$/;

/** A text that a shell or make reads: its words may name further files that define the check. */
const isScript = (file: string, text: string): boolean =>
  makefile.test(file) || /\.(?:sh|bash)$/.test(file) || /^#![^\n]*\b(?:ba|da|z|k)?sh\b/.test(text);

/** Words of the files that a command names, as on base, and of those that these take in. */
const bodiesOf = async ({ candidate, prefix, read }: PinRequest, words: readonly GateWords[]): Promise<readonly GateWords[]> => {
  const found: GateWords[] = [];
  const seen = new Set<string>();
  const waiting = words.flatMap((set) => namesOf(set));
  for (let name = waiting.shift(); name !== undefined && found.length < bodiesMax; name = waiting.shift()) {
    const places = [...new Set([path.posix.join(prefix, name), path.posix.normalize(name)])];
    for (const file of places) {
      if (seen.has(file) || file.startsWith('..') || file.startsWith('/')) continue;
      seen.add(file);
      const text = await read(candidate.base, file);
      if (text === undefined || text.length > bodyLettersMax || !isScript(file, text)) continue;
      const inside = gateWords(text, 'body');
      found.push(inside);
      waiting.push(...namesOf(inside));
    }
  }
  return found;
};

const namesOf = (set: GateWords): readonly string[] => [
  ...set.direct,
  ...set.telling,
  ...(set.programs.has('make') || set.programs.has('gmake') ? ['GNUmakefile', 'makefile', 'Makefile'] : []),
];

/** The command's words, those of every package script it reaches on base (with `pre` and `post`), and of the scripts all these run. */
const wordsOf = async (request: PinRequest): Promise<readonly GateWords[]> => {
  const { candidate, command, prefix, read } = request;
  const texts = [command];
  if (/\b(?:npm|pnpm|yarn|bun|npx)\b/.test(command)) {
    const file = prefix === '' ? 'package.json' : `${prefix}/package.json`;
    const scripts = scriptsOf(await read(candidate.base, file));
    const reached = new Set<string>();
    for (let index = 0; index < texts.length && reached.size < scriptsMax; index += 1) {
      const called = new Set((texts[index] ?? '').split(/[\s;&|()"']+/).map((word) => (word === 't' || word === 'tst' ? 'test' : word)));
      for (const [name, text] of scripts) {
        if (reached.has(name) || (!called.has(name.replace(/^(?:pre|post)(?=.)/, '')) && !called.has(name))) continue;
        reached.add(name);
        texts.push(text);
      }
    }
  }
  const words = texts.map((text) => gateWords(text));
  return [...words, ...(await bodiesOf(request, words))];
};

const scriptsOf = (text: string | undefined): readonly (readonly [string, string])[] => {
  try {
    const scripts: unknown = text === undefined ? {} : (JSON.parse(text) as { scripts?: unknown }).scripts;
    return Object.entries(scripts ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  } catch {
    return [];
  }
};

const graftOf = (kind: Exclude<GateKind, { gate: 'whole' }>, base: string | undefined, candidate: string): Graft =>
  kind.gate === 'json-keys' ? graftJson(base, candidate, kind.keys) : graftSections(base, candidate, kind.sections);

/**
 * Decides what the pinned run of one check holds as on base: changed test files and what defines the check.
 *
 * A new test file of the author's is left in place, because work may need it (a coverage gate), unless the task is one test that base
 * already has: then new tests are not needed, and without them nothing they might do to the others counts.
 */
export const planPin = async (request: PinRequest): Promise<PinPlan> => {
  const { candidate, prefix, proof, read } = request;
  const words = await wordsOf(request);
  const paths: string[] = [];
  const patches: { path: string; text: string }[] = [];
  const gates: string[] = [];
  for (const file of candidate.changed) {
    const kind = gateKindOf(words, file, prefix);
    if (isTestFile(file)) {
      const pinsNew = proof.by === 'test' || isTestSupport(file);
      if (pinsNew || (await read(candidate.base, file)) !== undefined) paths.push(file);
      continue;
    }
    if (kind === undefined) continue;
    const onBase = await read(candidate.base, file);
    if (kind.gate === 'whole') {
      if (onBase === undefined && !kind.whenNew) continue;
      gates.push(file);
      paths.push(file);
      continue;
    }
    const onCandidate = await read(candidate.commit, file);
    // A deleted file cannot be grafted onto: base's stands in its place.
    const graft: Graft = onCandidate === undefined ? { graft: 'impossible' } : graftOf(kind, onBase, onCandidate);
    if (graft.graft === 'same') continue;
    gates.push(file);
    if (graft.graft === 'text') patches.push({ path: file, text: graft.text });
    else paths.push(file);
  }
  const isNeeded = paths.length + patches.length > 0;
  return { pin: isNeeded ? { from: candidate.base, paths, patches } : undefined, gates };
};

/** Remembers what was read: several checks ask for the same files. */
export const rememberReads = (read: ReadFileAt): ReadFileAt => {
  const known = new Map<string, Promise<string | undefined>>();
  return (commit: CommitSha, file: string) => {
    const key = `${commit}:${file}`;
    const reading = known.get(key) ?? read(commit, file);
    known.set(key, reading);
    return reading;
  };
};
