import { assert, type Issue } from '../core/fault.ts';
import {
  manualTrigger,
  triggerId,
  type CatchUp,
  type EventTrigger,
  type GitRefs,
  type TimePolicy,
  type TriggerDefinition,
} from '../core/trigger.ts';
import { triggerDefaults } from './defaults.ts';
import { parseDuration } from './duration.ts';
import type { LoopInput } from './loop-schema.ts';
import { webhookPattern, type TriggerInput } from './on-schema.ts';
import type { Path } from './yaml-source.ts';
import type { Origin } from '../core/fault.ts';

const milliseconds = (text: string): number => parseDuration(text) ?? 0;

const catchUpOf = (given: TriggerInput['catch-up']): CatchUp => {
  const value = given ?? triggerDefaults['catch-up'];
  if (typeof value === 'object') return { run: 'all', max: value.all };
  return value === 'skip' ? { run: 'none' } : { run: 'once' };
};

const policyOf = (input: TriggerInput): TimePolicy => ({
  overlap: input.overlap ?? 'skip',
  catchUp: catchUpOf(input['catch-up']),
  jitterMs: input.jitter === undefined ? 0 : milliseconds(input.jitter),
  silentAfter: input['silent-after'] ?? triggerDefaults['silent-after'],
});

const refsOf = ({ branch, tag, remote }: NonNullable<TriggerInput['git']>): GitRefs => {
  if (remote !== undefined) return { kind: 'remote', remote, pattern: branch ?? '**' };
  if (tag !== undefined) return { kind: 'tag', pattern: tag };
  assert(branch !== undefined, 'A git trigger that passed its schema names refs.');
  return { kind: 'branch', pattern: branch };
};

const eventOf = (input: TriggerInput): EventTrigger | undefined => {
  const overlap = input.overlap ?? 'queue';
  if (input.watch !== undefined) return { on: 'watch', id: triggerId('watch', input.watch), overlap, globs: input.watch };
  if (input.git !== undefined) {
    const refs = refsOf(input.git);
    const id = triggerId('git', [refs.kind, refs.pattern, refs.kind === 'remote' ? refs.remote : '']);
    return { on: 'git', id, overlap, refs, pollMs: milliseconds(input.poll ?? triggerDefaults.poll) };
  }
  if (input.webhook !== undefined) {
    const [, github, event, action, , named] = webhookPattern.exec(input.webhook) ?? [];
    const secretVariable = input.secret ?? triggerDefaults.secret;
    return {
      on: 'webhook',
      id: triggerId('webhook', [input.webhook]),
      overlap,
      sender: github === undefined ? 'generic' : 'github',
      event: event ?? named,
      action,
      secretVariable,
    };
  }
  if (input.after !== undefined) {
    const { loop, exit } = typeof input.after === 'string' ? { loop: input.after, exit: undefined } : input.after;
    assert(loop !== undefined, 'An after trigger that passed its schema names a loop.');
    const exits = exit === undefined ? [] : typeof exit === 'string' ? [exit] : exit;
    return { on: 'after', id: triggerId('after', [loop, ...exits]), overlap, loop, exits };
  }
  return undefined;
};

const triggerOf = (input: 'manual' | TriggerInput): TriggerDefinition => {
  if (input === 'manual') return manualTrigger;
  const { schedule, every } = input;
  if (schedule !== undefined) {
    const cron = schedule.trim().replace(/\s+/g, ' ');
    const timezone = input.timezone ?? triggerDefaults.timezone;
    return { on: 'schedule', id: triggerId('schedule', [cron, timezone]), cron, timezone, ...policyOf(input) };
  }
  if (every !== undefined)
    return { on: 'every', id: triggerId('every', [milliseconds(every)]), everyMs: milliseconds(every), ...policyOf(input) };
  const event = eventOf(input);
  assert(event !== undefined, 'A trigger that passed its schema is of a kind.');
  return event;
};

/** The triggers of a loop, each as it was written; the same one twice, or a loop that waits for itself, is an issue. */
export const resolveTriggers = (
  on: LoopInput['on'],
  { loop, originOf }: { readonly loop: string; readonly originOf: (path: Path, part: 'key' | 'value') => Origin },
): { readonly triggers: readonly TriggerDefinition[]; readonly issues: readonly Issue[] } => {
  const list = on === undefined ? [] : Array.isArray(on) ? on : [on];
  const triggers = list.map(triggerOf);
  const issues = triggers.flatMap((trigger, index): readonly Issue[] => {
    const path = Array.isArray(on) ? ['on', index] : ['on'];
    const first = triggers.findIndex(({ id }) => id === trigger.id);
    if (first < index)
      return [
        { origin: originOf(path, 'value'), key: path.join('.'), found: 'the same trigger a second time', wanted: 'each trigger once' },
      ];
    if (trigger.on !== 'after' || trigger.loop !== loop) return [];
    return [
      {
        origin: originOf([...path, 'after'], 'value'),
        key: `${path.join('.')}.after`,
        found: `${loop}, which is this loop`,
        wanted: 'another loop',
      },
    ];
  });
  return { triggers: triggers.length === 0 ? [manualTrigger] : triggers, issues };
};
