import { accessSync, constants, mkdirSync } from 'node:fs';
import path from 'node:path';
import { Fault } from '../core/fault.ts';

/**
 * The folder of the daemon's logs, made where it is missing.
 * @throws Fault STATE_HOME_UNWRITABLE
 */
export const logFolder = (stateHome: string): string => {
  const folder = path.join(stateHome, 'logs');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Fault(
      'STATE_HOME_UNWRITABLE',
      `The state home ${stateHome} cannot be written (${error instanceof Error ? error.message : 'no reason was given'}).`,
      {
        hint: 'Check the folder and its permissions, or name another place with XDG_STATE_HOME.',
        data: { stateHome },
        cause: error,
      },
    );
  }
  return folder;
};
