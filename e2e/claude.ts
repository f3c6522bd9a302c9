// The pinned Claude Code and the environment in which it runs without a network.
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The version that package.json pins. */
export const claudeVersion = '2.1.332';

/**
 * Absolute path of the native program. It is taken from the package of this platform: the wrapper package would put it in place by an
 * install script, and no install script is allowed to run here (`allowScripts` in package.json).
 * @returns undefined when it is not installed
 */
export const claudePath = (): string | undefined => {
  const packages = path.join(import.meta.dirname, 'node_modules', '@anthropic-ai');
  const program = process.platform === 'win32' ? 'claude.exe' : 'claude';
  // npm installs one of the two on Linux, by the C library.
  return ['', '-musl']
    .map((library) => path.join(packages, `claude-code-${process.platform}-${process.arch}${library}`, program))
    .find((file) => existsSync(file));
};

/**
 * The complete environment of a Claude Code that talks to the scripted model alone. Nothing of the caller's environment is in it.
 * @param serverUrl base address of the model server, without `/v1`
 * @param home an empty folder of this run; temporary files go there too
 */
export const claudeEnvironment = (serverUrl: string, home: string): Record<string, string> => ({
  // The agent's shell needs the Node that runs the tests, and git.
  PATH: [path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(path.delimiter),
  HOME: home,
  TMPDIR: home,
  CLAUDE_CODE_TMPDIR: home,
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  ANTHROPIC_BASE_URL: serverUrl,
  ANTHROPIC_API_KEY: 'scripted',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
});
