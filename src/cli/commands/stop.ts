import { requestCancel } from '../../journal/index.ts';
import { findRun, readJournal } from '../place.ts';
import { line, printJson } from '../print.ts';

export const stop = async (text: string, options: { readonly json?: boolean }): Promise<void> => {
  const { place, reader } = await readJournal();
  const run = findRun(reader, text);
  const asked = requestCancel(place.stateHome, run.id, 'asked by `gyre stop`');
  const alive = reader?.owner()?.alive === true;
  if (options.json === true) printJson({ run: run.id, asked, engineAtWork: alive });
  else if (!asked) line(`Run ${run.id} has ended already; nothing to stop.`);
  else if (alive) line(`Run ${run.id} is being stopped; its work is kept.`);
  else line(`Run ${run.id} is marked as stopped; no engine is at work, so the next \`gyre run\` ends what is left of it.`);
};
