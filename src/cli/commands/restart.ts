import { drainOf } from '../drain-options.ts';
import { loadLoops } from '../load-loops.ts';
import { configOf, settingsAt } from '../loop-choice.ts';
import { findPlace } from '../place.ts';
import { line, printJson } from '../print.ts';
import { type DownOptions, endDaemon } from './down.ts';
import { startDetached } from './up.ts';

/** Ends the daemon and starts it again, by default without ending agents: the new one adopts them. */
export const restart = async (options: DownOptions): Promise<void> => {
  const place = await findPlace();
  // A configuration that cannot be read is found out while the old one still works.
  await loadLoops(configOf(place));
  const drain = drainOf({ ...options, drain: options.drain ?? 'checkpoint' }, await settingsAt(place));
  const before = await endDaemon({ place, kill: false, drain });
  const daemon = await startDetached(place, {});
  if (options.json === true) printJson({ before: before?.identity.pid, pid: daemon.identity.pid, log: daemon.log });
  else line(`Gyre is up as process ${daemon.identity.pid}${before === undefined ? '' : ` (before: ${before.identity.pid})`}.`);
};
