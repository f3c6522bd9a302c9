// Where a command was started: the repository, its state home, its configuration. Cheap enough for every read.
import os from 'node:os';
import path from 'node:path';
import { Rejection } from '../core/fault.ts';
import { openReader, type JournalReader, type RunRow } from '../journal/index.ts';
import { isTaskRun } from '../loop/read.ts';
import { findRepository, stateHomeOf, type Repository } from '../workspace/index.ts';

export interface Place {
  readonly repository: Repository;
  readonly stateHome: string;
  readonly cwd: string;
}

/** `$XDG_STATE_HOME/gyre`, by the XDG base directory rules: a relative value is ignored. */
export const stateRoot = (env: NodeJS.ProcessEnv): string => {
  const xdg = env['XDG_STATE_HOME'];
  return path.join(xdg !== undefined && path.isAbsolute(xdg) ? xdg : path.join(os.homedir(), '.local', 'state'), 'gyre');
};

export const findPlace = async (): Promise<Place> => {
  const cwd = process.cwd();
  const repository = await findRepository(cwd);
  return { repository, cwd, stateHome: stateHomeOf({ commonDir: repository.commonDir, stateRoot: stateRoot(process.env) }) };
};

/** The journal for reading, or `undefined` where nothing was ever run. */
export const readJournal = async (): Promise<{ readonly place: Place; readonly reader: JournalReader | undefined }> => {
  const place = await findPlace();
  return { place, reader: openReader(place.stateHome) };
};

const noRuns = 'No run was ever made in this repository. Start one with: gyre run';

/** A run by its id or the unique beginning of it. */
export const findRun = (reader: JournalReader | undefined, text: string): RunRow => {
  if (reader === undefined) throw new Rejection(noRuns);
  const exact = reader.run(text);
  if (exact !== undefined && isTaskRun(exact)) return exact;
  const matches = text === '' ? [] : reader.runs().filter((run) => isTaskRun(run) && run.id.startsWith(text));
  const [first] = matches;
  if (matches.length === 1 && first !== undefined) return first;
  if (matches.length > 1) throw new Rejection(`${matches.length} runs begin with ${text}: ${matches.map((run) => run.id).join(', ')}`);
  throw new Rejection(`There is no run ${text} here.`, { hint: '`gyre status --all` lists them.' });
};
