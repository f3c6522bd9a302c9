import { agentNamed, findConfig, goalLoop } from '../../config/index.ts';
import { Rejection } from '../../core/fault.ts';
import { findPlace } from '../place.ts';
import { runLoop } from './run.ts';

export interface GoalOptions {
  readonly check: string;
  readonly agent?: string;
  readonly agentCommand?: string;
  readonly land: string;
  readonly target?: string;
  readonly attempts?: string;
  readonly setup?: string;
  readonly json?: boolean;
}

export const goal = async (condition: string, options: GoalOptions): Promise<void> => {
  const place = await findPlace();
  const source = await findConfig(place.cwd, place.repository.root);
  if (options.agent !== undefined && options.agentCommand !== undefined) throw new Rejection('Give --agent or --agent-command, not both.');
  const agent =
    options.agentCommand !== undefined
      ? ({ use: 'command', command: options.agentCommand, prompt: 'stdin' } as const)
      : options.agent === undefined
        ? undefined
        : await agentNamed(source, options.agent);
  const loop = await goalLoop({
    condition,
    check: options.check,
    agent,
    land: options.land,
    target: options.target,
    attempts: options.attempts,
    setup: options.setup,
    source,
  });
  // The check runs in the folder the person stands in.
  await runLoop({ place, home: place.cwd, loop, options: { ...(options.json === undefined ? {} : { json: options.json }) } });
};
