// Where a command was started: the repository, its state home, its configuration. Cheap enough for every read.
import { realpathSync, statSync } from 'node:fs';
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

/** The git folder of a plain clone that a folder stands in, as git would find it (gitrepository-layout(5)). */
const plainGitFolder = (cwd: string): string | undefined => {
  for (let dir = realpathSync(cwd); ; dir = path.dirname(dir)) {
    const stat = statSync(path.join(dir, '.git'), { throwIfNoEntry: false });
    if (stat !== undefined) return stat.isDirectory() ? path.join(dir, '.git') : undefined;
    if (dir === path.dirname(dir)) return undefined;
  }
};

/**
 * The journal for reading alone, without a question to git where none is needed: the answer is to come at once, also from a machine on which
 * a thousand agents are at work. Wherever anything is out of the ordinary, git is asked as ever.
 */
export const readJournalAtOnce = async (): Promise<{ readonly stateHome: string; readonly reader: JournalReader | undefined }> => {
  const commonDir = plainGitFolder(process.cwd());
  if (commonDir !== undefined) {
    const stateHome = stateHomeOf({ commonDir, stateRoot: stateRoot(process.env) });
    const reader = openReader(stateHome);
    if (reader !== undefined) return { stateHome, reader };
  }
  const { place, reader } = await readJournal();
  return { stateHome: place.stateHome, reader };
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
