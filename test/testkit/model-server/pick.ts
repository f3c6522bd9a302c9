// Which step of which scenario a request asks for. All of it is read from the request, so the server keeps no session: a hundred
// conversations at once, or one that is resumed after days, each get their own next step.
import type { NeutralRequest } from './neutral.ts';
import type { Scenario, Scenarios, Seen, Step } from './scenario.ts';
import { scenarioOf } from './scenario.ts';

/** Why this answer was given. A `side` call is one that an agent makes for itself: a title, a summary, a classification. */
export type Why = 'tag' | 'match' | 'side' | 'unscripted';

export interface Pick {
  readonly why: Why;
  /** Name of the scenario; empty where none was asked for. */
  readonly scenario: string;
  /** The free part of the tag: keeps fault counters of two conversations apart. */
  readonly key: string;
  readonly turn: number;
  readonly step: Step;
  readonly seen: Seen;
}

// `[[s:fix]]`, or `[[s:fix:run-7]]` with a key.
const tags = /\[\[s:([\w-]+)(?::([\w.-]+))?\]\]/g;

const sideStep: Step = { text: 'Scripted side answer.' };

interface Found {
  readonly why: 'tag' | 'match';
  readonly name: string;
  readonly key: string;
  readonly scenario: Scenario;
  /** Place of the text that picked it; -1 is the system prompt. */
  readonly at: number;
}

/** A tag that names no scenario: a slip of the pen in a test, which must not look like a model that has nothing to do. */
export class UnknownScenario extends Error {
  constructor(name: string, scenarios: Scenarios) {
    super(`No scenario is named ${name}; there are: ${Object.keys(scenarios).join(', ')}.`);
    this.name = 'UnknownScenario';
  }
}

const findTag = (text: string, scenarios: Scenarios): Omit<Found, 'at'> | undefined => {
  const [tag, name = '', key = ''] = [...text.matchAll(tags)].at(-1) ?? [];
  if (tag === undefined) return undefined;
  const entry = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (entry === undefined) throw new UnknownScenario(name, scenarios);
  return { why: 'tag', name, key, scenario: scenarioOf(entry) };
};

const findMatch = (text: string, scenarios: Scenarios): Omit<Found, 'at'> | undefined => {
  for (const [name, entry] of Object.entries(scenarios)) {
    const scenario = scenarioOf(entry);
    const { match } = scenario;
    // `search` and not `test`: a pattern with the flag g remembers its place between calls.
    const fits = match instanceof RegExp ? text.search(match) >= 0 : match?.(text) === true;
    if (fits) return { why: 'match', name, key: '', scenario };
  }
  return undefined;
};

/** The newest text with a tag wins; without any tag, the newest text that a `match` accepts; last the system prompt. */
const find = (request: NeutralRequest, scenarios: Scenarios): Found | undefined => {
  const texts = request.turns.map((turn, at) => ({ at, text: turn.role === 'user' ? turn.said : '' })).toReversed();
  const places = [...texts, { at: -1, text: request.system }].filter(({ text }) => text.trim() !== '');
  for (const finder of [findTag, findMatch]) {
    for (const { at, text } of places) {
      const found = finder(text, scenarios);
      if (found !== undefined) return { ...found, at };
    }
  }
  return undefined;
};

/**
 * True for a call that only quotes the prompt: it offers no tools though the script needs them, or wants an answer in a shape that
 * the script does not give. Such a call must not use up a step's faults, nor be taken for the conversation itself.
 */
const isSideCall = (request: NeutralRequest, scenario: Scenario): boolean => {
  const operations = scenario.steps.flatMap((step) => step.ops ?? []);
  const answers = operations.some(({ op }) => op === 'answer');
  if (request.schema !== undefined && !answers) return true;
  return request.tools.length === 0 && operations.some(({ op }) => op !== 'answer');
};

/**
 * The step to play. Every request gets one: what no scenario asks for gets a short text, so that side calls never fail a run.
 * @throws UnknownScenario
 */
export const pickStep = (request: NeutralRequest, scenarios: Scenarios): Pick => {
  const found = find(request, scenarios);
  const conversation = request.turns.map((turn) => turn.shown).join('\n');
  const turn = request.turns.slice((found?.at ?? -1) + 1).filter(({ role }) => role === 'model').length;
  const seen: Seen = { turn, conversation, system: request.system };
  if (found === undefined) return { why: 'unscripted', scenario: '', key: '', turn, seen, step: sideStep };
  const base = { scenario: found.name, key: found.key, turn, seen };
  if (isSideCall(request, found.scenario)) return { ...base, why: 'side', step: sideStep };
  const { steps } = found.scenario;
  const last = steps.at(-1) ?? sideStep;
  return { ...base, why: found.why, step: steps[turn] ?? { ...last, ops: [] } };
};
