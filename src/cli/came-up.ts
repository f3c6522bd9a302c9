import { Fault } from '../core/fault.ts';
import { openReader } from '../journal/index.ts';
import { daemonKey, daemonRegister, type DaemonState } from './daemon-state.ts';

/** The ownership for which a daemon said last that it is at work; undefined when none ever did. @throws Fault of a journal that cannot be read */
const lastEpoch = (stateHome: string): number | undefined => {
  const reader = openReader(stateHome);
  try {
    return (reader?.registerEntry(daemonRegister, daemonKey)?.value as DaemonState | undefined)?.epoch;
  } finally {
    reader?.[Symbol.dispose]();
  }
};

/**
 * Brings a daemon up and tells a refusal to start from a fault of a daemon that was at work: the second is mended by starting it again.
 * @throws Fault DAEMON_STOPPED (data: `code` of what stopped it) for the second; for the first what `run` threw
 */
export const comeUp = async (stateHome: string, run: () => Promise<void>): Promise<void> => {
  const before = lastEpoch(stateHome);
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'STATE_HOME_HELD' || !cameUp(stateHome, before)) throw error;
    throw new Fault('DAEMON_STOPPED', `The daemon was at work and had to stop: ${error.message}`, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      data: { code: error.code },
      cause: error,
    });
  }
};

/** A journal that could be read before and cannot be read any more was lost at work. */
const cameUp = (stateHome: string, before: number | undefined): boolean => {
  try {
    return lastEpoch(stateHome) !== before;
  } catch {
    return true;
  }
};
