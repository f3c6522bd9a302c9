import { chmod } from 'node:fs/promises';
import { agentConformance } from './conformance.ts';
import type { Behaviour } from './conformance.ts';
import { fixtureAgent } from './world.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const commandLine = (dialect: string, behaviour: Behaviour): string =>
  `${quoted(process.execPath)} ${quoted(fixtureAgent)} ${dialect} ${behaviour}`;

agentConformance('claude', {
  make: async (world, behaviour) => {
    const command = await world.write('claude', `#!/bin/sh\nexec ${commandLine('claude', behaviour)}\n`);
    await chmod(command, 0o755);
    return { use: 'claude', model: undefined, effort: undefined, args: [], command };
  },
  missing: { use: 'claude', model: undefined, effort: undefined, args: [], command: 'no-such-program-of-gyre' },
  announcesEnd: true,
  ownNames: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'],
});

agentConformance('command', {
  make: async (_world, behaviour) => ({ use: 'command', command: `exec ${commandLine('plain', behaviour)}`, prompt: 'stdin' }),
  missing: { use: 'command', command: 'no-such-program-of-gyre --now', prompt: 'stdin' },
  announcesEnd: true,
  ownNames: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'OPENAI_API_KEY'],
});

const steps = (behaviour: Behaviour): string => {
  if (behaviour === 'work') return '[{ expect-prompt: { contains: "hash " } }, { write: { file: done.txt, text: hash } }]';
  if (behaviour === 'die') return '[{ run: "kill -9 $PPID" }]';
  return `[{ run: ${JSON.stringify(commandLine('plain', behaviour))} }]`;
};

agentConformance('scripted', {
  make: async (world, behaviour) => {
    await world.write('script.yaml', `entries:\n  - steps: ${steps(behaviour)}\n`);
    return { use: 'scripted', script: 'script.yaml' };
  },
  missing: { use: 'scripted', script: 'no-such-script.yaml' },
  announcesEnd: false,
  ownNames: [],
});
