// What is wrong between loops, and between a loop and this machine; what one file alone can get wrong is refused when it is read.

import type { Issue } from '../core/fault.ts';
import { nearest } from '../core/nearest.ts';
import type { TriggerDefinition } from '../core/trigger.ts';
import type { ScheduledLoop, SchedulerOptions } from './port.ts';

type Place = Pick<SchedulerOptions, 'env' | 'repository'>;

/** Loops that start each other in a circle would never rest. */
const circleFrom = (start: string, loops: readonly ScheduledLoop[]): readonly string[] | undefined => {
  const awaited = (name: string): readonly string[] =>
    loops.find((loop) => loop.name === name)?.triggers.flatMap((trigger) => (trigger.on === 'after' ? [trigger.loop] : [])) ?? [];
  const seen = new Set<string>();
  const walk = (name: string, path: readonly string[]): readonly string[] | undefined => {
    if (name === start && path.length > 0) return [...path, name];
    if (seen.has(name)) return undefined;
    seen.add(name);
    for (const next of awaited(name)) {
      const found = walk(next, [...path, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(start, []);
};

const issueOf = ({
  loop,
  trigger,
  loops,
  place,
}: {
  readonly loop: ScheduledLoop;
  readonly trigger: TriggerDefinition;
  readonly loops: readonly ScheduledLoop[];
  readonly place: Place;
}): Omit<Issue, 'origin'> | undefined => {
  if (trigger.on === 'after') {
    const names = loops.map(({ name }) => name);
    if (!names.includes(trigger.loop)) {
      const near = nearest(trigger.loop, names);
      return {
        key: 'on.after.loop',
        found: `${trigger.loop}, and there is no such loop`,
        wanted: 'the name of a loop of this repository',
        ...(near === undefined ? {} : { nearest: near }),
      };
    }
    const circle = circleFrom(loop.name, loops);
    if (circle !== undefined)
      return {
        key: 'on.after.loop',
        found: `a circle: ${circle.join(' waits for ')}`,
        wanted: 'loops that do not start each other for ever',
      };
  }
  if (trigger.on === 'webhook' && (place.env[trigger.secretVariable] ?? '') === '')
    return {
      key: 'on.secret',
      found: `${trigger.secretVariable}, which is not set in the environment`,
      wanted: 'an environment variable that holds the shared secret',
    };
  if ((trigger.on === 'git' || trigger.on === 'watch') && place.repository === undefined)
    return { key: `on.${trigger.on}`, found: 'no git repository around the loop', wanted: 'a loop inside a git repository' };
  return undefined;
};

/** Every trigger that cannot work here. */
export const triggerIssues = (loops: readonly ScheduledLoop[], place: Place): readonly Issue[] =>
  loops.flatMap((loop) =>
    loop.triggers.flatMap((trigger) => {
      const issue = issueOf({ loop, trigger, loops, place });
      return issue === undefined ? [] : [{ origin: { file: loop.file }, ...issue }];
    }),
  );
