import { z } from 'zod';
import { defaults, entryDefaults } from './defaults.ts';
import { choice, keys, relativePath, text, texts } from './schema-parts.ts';

export const builtAgents = ['claude', 'command', 'scripted'] as const;

/** Which keys go with which agent is checked in resolve-agent.ts. */
export const agentKeys = keys(
  {
    use: z.string({ error: `one of ${builtAgents.join(', ')}` }).meta({ description: 'Which agent.', enum: [...builtAgents] }),
    model: text('the name of a model', { description: 'Model, in the words of the agent (claude).' }).optional(),
    effort: text('an effort such as high', { description: 'How hard the model thinks, in the words of the agent (claude).' }).optional(),
    args: texts('a list of arguments', { description: 'More arguments for the agent (claude).', default: [] }).optional(),
    command: text('a command', { description: 'The program (claude), or the whole command line (command).' }).optional(),
    prompt: choice(['stdin', 'file'], {
      description: 'How the command gets the prompt; the file is always there too, named by GYRE_PROMPT_FILE.',
      default: entryDefaults.prompt,
    }).optional(),
    script: relativePath({ description: 'Script of edits for the agent without a model (scripted).' }).optional(),
  },
  'the name of an agent, or a map with use',
  { description: 'An agent and its settings.' },
);

export const agent = z
  .union([text('the name of an agent', { description: 'An agent, or a preset of gyre.yaml.' }), agentKeys], {
    error: 'the name of an agent, or a map with use',
  })
  .meta({ description: 'Who does the work: claude, a preset of gyre.yaml, or a map.', default: defaults.agent });

export type AgentInput = z.infer<typeof agent>;
