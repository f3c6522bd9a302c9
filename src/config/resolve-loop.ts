import { type Issue, Rejection } from '../core/fault.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import { parseBudget } from './budget.ts';
import { parseDuration } from './duration.ts';
import type { GyreInput } from './gyre-schema.ts';
import { issueCount } from './limits.ts';
import type { LoopInput } from './loop-schema.ts';
import { mergeLayers, type MergedInput } from './merge-layers.ts';
import { noticesOf, refusalsOf } from './notices.ts';
import { isIssues } from './or-issues.ts';
import type { LoadedLoop } from './port.ts';
import type { Layer } from './read-layer.ts';
import { resolveAgent } from './resolve-agent.ts';
import { resolveTriggers } from './resolve-triggers.ts';
import { resolveWork } from './resolve-work.ts';
import { parseSize } from './size.ts';
import { templateIssues } from './template.ts';

export interface LoopParts {
  readonly name: string;
  readonly loop: Layer<LoopInput>;
  readonly shared: Layer<GyreInput> | undefined;
  readonly body: string;
  readonly bodyLine: number;
  /** Issues found before, e.g. a missing body. */
  readonly issues: readonly Issue[];
}

const inFileOrder = (a: Issue, b: Issue): number =>
  (a.origin.line ?? 0) - (b.origin.line ?? 0) || (a.origin.column ?? 0) - (b.origin.column ?? 0);

/** Throws one Rejection for all issues, in the order of the files, a bounded number of them. */
export const rejectIf = (file: string, issues: readonly Issue[]): void => {
  if (issues.length === 0) return;
  const sorted = issues.toSorted((a, b) => Number(a.origin.file !== file) - Number(b.origin.file !== file) || inFileOrder(a, b));
  const left = sorted.length - issueCount;
  const hint = left > 0 ? { hint: `${left} more issues are not listed.` } : {};
  throw new Rejection(`${file} has ${issues.length === 1 ? 'an issue' : `${issues.length} issues`}.`, {
    issues: sorted.slice(0, issueCount),
    ...hint,
  });
};

const milliseconds = (text: string): number => parseDuration(text) ?? 0;

const stopOf = (stop: MergedInput['stop']): LoopDefinition['stop'] => {
  const budget = parseBudget(stop.budget);
  return {
    attempts: stop.attempts,
    noProgress: stop['no-progress'],
    sameFailure: stop['same-failure'],
    timeMs: milliseconds(stop.time),
    budgetUsd: budget?.usd,
    budgetTokens: budget?.tokens,
    sessionMs: milliseconds(stop.session),
    idleMs: milliseconds(stop.idle),
    resultGraceMs: milliseconds(stop['result-grace']),
    outputBytes: parseSize(stop.output) ?? 0,
  };
};

/**
 * Joins a loop's layers into what the engine uses.
 * @throws Rejection with every issue of every layer at once
 */
export const resolveLoop = ({ name, loop, shared, body, bodyLine, issues: before }: LoopParts): LoadedLoop => {
  const merged = mergeLayers(loop, shared);
  const { input } = merged;
  const presets = shared?.input.agents ?? {};
  const presetIssues = Object.entries(presets).flatMap(([preset, map]) => {
    const resolved = resolveAgent(map, { path: ['agents', preset], originOf: shared?.originOf ?? merged.originOf, presets });
    return isIssues(resolved) ? resolved : [];
  });
  const agent = resolveAgent(input.agent, { path: ['agent'], originOf: merged.originOf, presets });
  const { work, issues: workIssues } = resolveWork(merged, { file: loop.file, bad: loop.bad });
  const { triggers, issues: triggerIssues } = resolveTriggers(input.on, { loop: name, originOf: merged.originOf });
  const namesPreset = typeof input.agent === 'string' && Object.hasOwn(presets, input.agent);
  const agentIssues = isIssues(agent) && !namesPreset ? agent : [];
  const issues = [
    ...before,
    ...loop.issues,
    ...(shared?.issues ?? []),
    ...presetIssues,
    // A name may be a preset that is itself wrong and reported; then it is not unknown.
    ...(shared?.bad.has('agents') === true && typeof input.agent === 'string' ? [] : agentIssues),
    ...workIssues,
    ...triggerIssues,
    ...refusalsOf(merged),
    ...templateIssues({ file: loop.file, body, bodyLine }),
  ];
  rejectIf(loop.file, issues);
  if (isIssues(agent)) throw new Rejection(`${loop.file} names no agent.`, { issues: agent });

  const { land } = input;
  const definition: LoopDefinition = {
    name,
    description: input.description,
    file: loop.file,
    triggers,
    ...work,
    agent,
    workspace: {
      setup: input.workspace.setup,
      setupTimeoutMs: milliseconds(input.workspace['setup-timeout']),
      share: input.workspace.share,
    },
    protect: input.protect,
    stop: stopOf(input.stop),
    land: { as: land.as, target: land.target, sign: land.sign },
    notes: input.notes,
    parallel: input.parallel,
    body,
    bodyLine,
  };
  const goal = input.goal === undefined ? [{ key: 'goal', value: work.goal, origin: { from: 'default' } as const }] : [];
  const values = [...merged.values, ...goal].toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return { definition, values, notices: noticesOf(merged, shared) };
};
