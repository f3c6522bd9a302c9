import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { checkName } from './refs.ts';

/** What was true when a workspace was opened. */
export interface OpeningRecord {
  readonly base: string;
  readonly createdAt: number;
  /** Branches, tags and stash of the user at that time. */
  readonly refs: Readonly<Record<string, string>>;
}

/** Folders of one repository under its state home. */
export interface Places {
  readonly worktrees: string;
  readonly clean: string;
  worktree(run: string): string;
  modules(run: string): string;
  index(run: string): string;
  record(run: string): string;
  /** Where the remains of a workspace with a broken link are put aside. */
  lost(run: string): string;
  readonly lostAll: string;
}

/** Makes the state home and gives its places by their real paths: git compares paths letter by letter. */
export const placesIn = async (stateHome: string): Promise<Places> => {
  await mkdir(path.join(stateHome, 'worktrees'), { recursive: true });
  const home = await realpath(stateHome);
  let indexes = 0;
  return {
    worktrees: path.join(home, 'worktrees'),
    clean: path.join(home, 'clean'),
    worktree: (run) => path.join(home, 'worktrees', checkName(run)),
    modules: (run) => path.join(home, 'modules', checkName(run)),
    index: (run) => path.join(home, 'tmp', `${checkName(run)}-${process.pid}-${(indexes += 1)}.index`),
    record: (run) => path.join(home, 'workspaces', `${checkName(run)}.json`),
    lostAll: path.join(home, 'lost'),
    lost: (run) => path.join(home, 'lost', checkName(run)),
  };
};

export const writeOpening = async (file: string, record: OpeningRecord): Promise<void> => {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(record));
  await rename(`${file}.new`, file);
};

export const readOpening = async (file: string): Promise<OpeningRecord | undefined> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as OpeningRecord);
};
