import { requestCancel } from '../../journal/index.ts';
import { findRun, readJournal } from '../place.ts';
import { line } from '../print.ts';

export const stop = async (text: string): Promise<void> => {
  const { place, reader } = await readJournal();
  const run = findRun(reader, text);
  if (!requestCancel(place.stateHome, run.id, 'asked by `gyre stop`')) {
    line(`Run ${run.id} has ended already; nothing to stop.`);
    return;
  }
  const alive = reader?.owner()?.alive === true;
  line(
    alive
      ? `Run ${run.id} is being stopped; its work is kept.`
      : `Run ${run.id} is marked as stopped; no engine is at work, so the next \`gyre run\` ends what is left of it.`,
  );
};
