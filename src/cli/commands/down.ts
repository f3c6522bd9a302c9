import { setTimeout as delay } from 'node:timers/promises';
import { Fault, Rejection } from '../../core/fault.ts';
import { openReader, requestSignal } from '../../journal/index.ts';
import { isAlive } from '../../process/index.ts';
import { type Daemon, daemonOf, requests } from '../daemon-state.ts';
import { type Drain, drainOf } from '../drain-options.ts';
import { settingsAt } from '../loop-choice.ts';
import { findPlace, type Place } from '../place.ts';
import { line, printJson } from '../print.ts';

export interface DownOptions {
  readonly drain?: string;
  readonly time?: string;
  readonly kill?: boolean;
  readonly json?: boolean;
}

/** Beyond the drain time: ending agents in order, closing files. */
const closingMs = 60_000;
const pollMs = 100;

export const down = async (options: DownOptions): Promise<void> => {
  const place = await findPlace();
  const ended = await endDaemon({ place, kill: options.kill === true, drain: drainOf(options, await settingsAt(place)) });
  if (options.json === true) printJson({ pid: ended?.identity.pid, ended: ended !== undefined });
  else if (ended === undefined) line('No daemon is at work here.');
  else line(`The daemon (process ${ended.identity.pid}) has ended.`);
};

/**
 * Asks the daemon to end and waits until it is gone.
 * @returns the daemon that was ended, `undefined` when there was none
 * @throws Rejection when the owner is not a daemon; Fault DAEMON_STAYS when it is still alive after the time it was given
 */
export const endDaemon = async (request: {
  readonly place: Place;
  readonly kill: boolean;
  readonly drain: Drain;
}): Promise<Daemon | undefined> => {
  const { place, kill, drain } = request;
  const timeMs = drain.policy === 'finish' ? drain.timeMs : 0;
  const reader = openReader(place.stateHome);
  try {
    const owner = reader?.owner();
    if (reader === undefined || owner?.alive !== true) return undefined;
    const daemon = daemonOf(reader);
    if (daemon === undefined)
      throw new Rejection(`Process ${owner.identity.pid} is at work here and is no daemon, but a single command such as gyre run.`, {
        hint: 'It ends by itself; `gyre stop <run>` ends a run of it, Ctrl-C in its terminal ends all.',
      });
    // A kill is what it says: agents and facts stay, and the next engine goes on with them.
    if (kill) process.kill(daemon.identity.pid, 'SIGKILL');
    else requestSignal(place.stateHome, { run: '', name: requests.down, payload: drain, by: 'gyre down' });
    const until = Date.now() + timeMs + closingMs;
    while (isAlive(daemon.identity)) {
      if (Date.now() > until)
        throw new Fault(
          'DAEMON_STAYS',
          `The daemon (process ${daemon.identity.pid}) has not ended within ${Math.round((timeMs + closingMs) / 1_000)} s.`,
          {
            hint: `Look at its log ${daemon.log}, or end it with: gyre down --kill`,
          },
        );
      await delay(pollMs);
    }
    return daemon;
  } finally {
    reader?.[Symbol.dispose]();
  }
};
