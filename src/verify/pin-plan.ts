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

/** The command's words and those of every package script it reaches on base, with `pre` and `post`. */
const wordsOf = async ({ candidate, command, prefix, read }: PinRequest): Promise<readonly GateWords[]> => {
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
  return texts.map((text) => gateWords(text));
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
