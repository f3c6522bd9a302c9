// Vitest's global set-up: the pinned agents must be there. A missing one fails the run, for a skipped test would look like a pass.
import { execFileSync } from 'node:child_process';
import { claudePath, claudeVersion } from './claude.ts';

const howTo = 'Remove e2e/node_modules and run `npm run test:agents`, which installs it.';

const versionOf = (program: string): string => {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8', timeout: 60_000, env: { PATH: '/usr/bin:/bin' } }).trim();
  } catch (error) {
    throw new Error(`Claude Code at ${program} does not start: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
};

/** @throws an Error of one sentence when an agent is missing or is not the pinned version */
export const requireAgents = (): void => {
  const claude = claudePath();
  if (claude === undefined) throw new Error(`Claude Code ${claudeVersion} is not installed in e2e/node_modules. ${howTo}`);
  const version = versionOf(claude);
  if (!version.startsWith(`${claudeVersion} `)) {
    throw new Error(`Claude Code in e2e/node_modules is ${version}, but ${claudeVersion} is pinned. ${howTo}`);
  }
};

export default requireAgents;
