import { findConfig, goalLoop } from '../../config/index.ts';
import { attemptsOf } from '../loop-choice.ts';
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
  const source = findConfig(place.cwd, place.repository.root);
  if (options.agent !== undefined && options.agentCommand !== undefined) throw new Rejection('Give --agent or --agent-command, not both.');
  const attempts = options.attempts === undefined ? undefined : attemptsOf(options.attempts);
  const { definition, notices } = goalLoop(
    {
      condition,
      check: options.check,
      agent: options.agentCommand === undefined ? options.agent : { use: 'command', command: options.agentCommand },
      land: options.land,
      target: options.target,
      attempts,
      setup: options.setup,
    },
    await source?.shared(),
  );
  for (const notice of notices) process.stderr.write(`note: ${notice.sentence}\n`);
  // The check runs in the folder the person stands in.
  await runLoop({ place, home: place.cwd, loop: definition, options: options.json === undefined ? {} : { json: options.json } });
};
