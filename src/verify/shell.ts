import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';

/** How a command line is run. `weakness` is one sentence when a pipe may hide a failure, else empty. */
export interface Shell {
  readonly command: string;
  /** Arguments before the command line itself. */
  readonly args: readonly string[];
  readonly weakness: string;
}

const isExecutable = async (file: string): Promise<boolean> => {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Bash with `pipefail`, so that `npm test | tee log` is red when the tests are; where there is no Bash, the POSIX shell.
 * @param searchPath value of PATH as the check will see it; relative entries are not looked at
 */
export const findShell = async (searchPath: string): Promise<Shell> => {
  const folders = searchPath.split(':').filter((entry) => path.isAbsolute(entry));
  for (const folder of folders) {
    const file = path.join(folder, 'bash');
    // No start-up files: they belong to a person, and what they set is not on the check's allow-list.
    if (await isExecutable(file)) return { command: file, args: ['--noprofile', '--norc', '-o', 'pipefail', '-c'], weakness: '' };
  }
  return {
    command: '/bin/sh',
    args: ['-c'],
    weakness: 'No bash on PATH, so the command ran in the POSIX shell without pipefail: a failure before a pipe is not seen.',
  };
};
