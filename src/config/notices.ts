// What is valid and does nothing in this version is said (L15). What would weaken trust if it did nothing is refused instead.

import type { Issue } from '../core/fault.ts';
import type { GyreInput } from './gyre-schema.ts';
import type { Merged } from './merge-layers.ts';
import type { ConfigNotice } from './port.ts';
import type { Layer } from './read-layer.ts';
import type { Path } from './yaml-source.ts';

const sharedSentences = {
  budgets: 'budgets has no effect in this version: each task is limited by stop.budget.',
  channels: 'channels has no effect in this version: read the output of gyre run and gyre status.',
} as const;

const noSandbox = 'has no effect in this version: the agent and the checks run with your rights. Use a container where that is too much.';

/** Notices on keys of a merged loop and of gyre.yaml. */
export const noticesOf = (merged: Merged, shared: Layer<GyreInput> | undefined): readonly ConfigNotice[] => {
  const { input, originOf } = merged;
  const notices: ConfigNotice[] = [];
  const note = (path: Path, sentence: string): void => {
    notices.push({ key: path.join('.'), origin: originOf(path, 'key'), sentence });
  };
  for (const [index, entry] of (input.verify ?? []).entries()) {
    if (typeof entry === 'string') continue;
    if (entry.network !== undefined)
      note(['verify', index, 'network'], 'network has no effect in this version: the check runs with the network of this machine.');
    if (entry.when !== undefined) note(['verify', index, 'when'], 'when has no effect in this version: the check runs on every candidate.');
  }
  if (input.workspace.sandbox !== 'none') note(['workspace', 'sandbox'], `workspace.sandbox: ${input.workspace.sandbox} ${noSandbox}`);
  for (const key of ['agents', 'depth'] as const)
    if (input.stop[key] !== undefined)
      note(['stop', key], `stop.${key} has no effect in this version: a run starts no other runs, and one agent works at a time.`);
  if (input.autonomy !== undefined)
    note(['autonomy'], `autonomy: ${input.autonomy} has no effect in this version: landing follows land.as (${input.land.as}).`);
  for (const key of ['recall', 'learn'] as const)
    if (input.memory?.[key] !== undefined)
      note(['memory', key], `memory.${key} has no effect in this version: nothing is remembered between runs but the journal.`);
  if (input.notes === 'issue' && !(input.discover ?? []).some((entry) => entry.issues !== undefined))
    note(['notes'], 'notes: issue has no effect in this loop: none of its sources gives issues.');

  if (shared !== undefined) {
    for (const [key, sentence] of Object.entries(sharedSentences))
      if (shared.input[key as keyof typeof sharedSentences] !== undefined)
        notices.push({ key, origin: shared.originOf([key], 'key'), sentence });
    if (shared.input.sandbox !== undefined && shared.input.sandbox !== 'none')
      notices.push({
        key: 'sandbox',
        origin: shared.originOf(['sandbox'], 'key'),
        sentence: `sandbox: ${shared.input.sandbox} ${noSandbox}`,
      });
  }
  return notices;
};

/** Values that promise a person's look or another's review and would be ignored: such a loop does not start. */
export const refusalsOf = ({ input, originOf }: Merged): readonly Issue[] => {
  const issues: Issue[] = [];
  const { autonomy, land } = input;
  const lessThanAsked =
    (autonomy === 'report' && land.as !== 'report') || ((autonomy === 'assisted' || autonomy === 'earned') && land.as === 'merge');
  if (lessThanAsked)
    issues.push({
      origin: originOf(['autonomy'], 'value'),
      key: 'autonomy',
      found: `${autonomy} with land.as: ${land.as}, and approvals are not available in this version`,
      wanted: autonomy === 'report' ? 'land: { as: report }' : 'land: { as: branch }, or autonomy: unattended',
    });
  return issues;
};
