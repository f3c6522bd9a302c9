import { loopShape, type LoopInput } from './loop-schema.ts';
import { readShared } from './load-loop-text.ts';
import type { LoadedLoop, SourceText } from './port.ts';
import { readLayer } from './read-layer.ts';
import { resolveLoop } from './resolve-loop.ts';

/** What `gyre goal` was given, as typed by a person; what is missing comes from `gyre.yaml` and the defaults. */
export interface GoalRequest {
  readonly condition: string;
  readonly check: string;
  /** `claude` or a preset, or a command line as `{ use: 'command', command }`. */
  readonly agent?: string | Readonly<Record<string, unknown>> | undefined;
  readonly land?: string | undefined;
  readonly target?: string | undefined;
  readonly attempts?: number | undefined;
  /** A duration such as `45m`. */
  readonly time?: string | undefined;
  /** A duration: time the check may take. */
  readonly checkTimeout?: string | undefined;
  /** A budget such as `$5`. */
  readonly budget?: string | undefined;
  readonly setup?: string | undefined;
  readonly protect?: readonly string[] | undefined;
}

const file = '(command line)';

const body = `Make this true:

{{ goal }}

It counts as true when this command succeeds:
{% for check in checks %}
    {{ check }}
{% endfor %}
{% if task.evidence != "" %}What the command says now:

{{ task.evidence }}
{% endif %}`;

/** A map without the keys whose value is missing; `undefined` when nothing is left. */
const given = (map: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined => {
  const entries = Object.entries(map).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/**
 * A loop of one task: a condition, and the command that shows it.
 * @throws Rejection with every issue of the command line and of `gyre.yaml` at once
 */
export const goalLoop = (request: GoalRequest, shared: SourceText | undefined): LoadedLoop => {
  const data = given({
    goal: request.condition,
    verify: [given({ run: request.check, timeout: request.checkTimeout })],
    agent: request.agent,
    land: given({ as: request.land, target: request.target }),
    stop: given({ attempts: request.attempts, time: request.time, budget: request.budget }),
    workspace: given({ setup: request.setup }),
    protect: request.protect,
  });
  const loop = readLayer<LoopInput>({ file, data, issues: [], originOf: () => ({ file }) }, loopShape);
  return resolveLoop({ name: 'goal', loop, shared: shared === undefined ? undefined : readShared(shared), body, bodyLine: 1, issues: [] });
};
