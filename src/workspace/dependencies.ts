import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, readFile, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Defect } from '../core/fault.ts';
import { copyFolder } from './copy-folder.ts';
import { dependencyKey, type DependencyPlace } from './dependency-key.ts';
import { provingMarks, readFolder } from './folder-state.ts';
import { createGit, type Git } from './git.ts';
import { refuseOwnPlace } from './own-place.ts';
import type { Repository } from './port.ts';
import { removeFolder } from './remove-folder.ts';
import { linkedWorktree } from './worktree-link.ts';

// Dependency folders (node_modules), kept by what decides their content, so that a set-up command runs once and not in every checkout.
// Invariants:
// 1. A checkout gets a copy of its own. Nothing in it is a second name of a kept file, so no attempt can alter another's.
// 2. Only what a set-up command made of the user's own commit is kept, before an agent had the folder, and only if that is all it made.
// 3. A copy is used when everything it was made from still has, after the copying, the inode and change time it had when it was kept
//    (`folder-state.ts`). The list of these lies beside the folders; the hash of the list lies where the caller keeps it (the journal), so
//    a list that an agent wrote proves nothing.
// 4. Whatever is odd costs the kept folders: they go, and the set-up command runs.

/** Keeps one short text a key, safe from whoever can write into the folder of the kept dependencies. */
export interface ProofMemory {
  get(key: string): string | undefined;
  /** Forgets it without a text. */
  put(key: string, proof: string | undefined): Promise<void>;
}

export type Filled =
  | { readonly from: 'kept' }
  /** By the set-up command. `kept` for the next; where not, why. */
  | { readonly from: 'set-up'; readonly kept: boolean; readonly why: string };

export interface Dependencies {
  /**
   * Fills the dependency folders of a checkout: from those kept, else by the set-up command.
   * @param request.mayKeep the checkout is one of the user's own commit, and no agent had it
   * @param setUp runs the command; false when it failed
   */
  provide(request: DependencyPlace & { readonly mayKeep: boolean }, setUp: () => Promise<boolean>): Promise<Filled>;
  list(): Promise<readonly { readonly key: string; readonly bytes: number; readonly usedAt: number }[]>;
  /** Removes kept folders, those not used for longest first, until those left hold at most `bytes`. @returns bytes left */
  shrink(bytes: number): Promise<number>;
  /** Removes what nothing proves: half-made folders, those of an engine that remembers otherwise. Only the owner of the state home asks. */
  tidy(): Promise<void>;
}

interface Manifest {
  readonly folders: readonly string[];
  readonly marks: readonly (readonly [string, string])[];
  readonly bytes: number;
}

/** The clock of file times ticks every few milliseconds: what was written in this tick proves nothing yet. */
const restMs = 50;
/** Dependency folders of more entries are not kept. */
const entriesMax = 500_000;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const isFolder = async (dir: string): Promise<boolean> => (await lstat(dir).catch(() => undefined))?.isDirectory() === true;

/** No part of the path to the folder is a link or a file; parts may be missing. */
const standsInside = async (dir: string, folder: string): Promise<boolean> => {
  let at = dir;
  for (const part of folder.split('/').slice(0, -1)) {
    at = path.join(at, part);
    const stat = await lstat(at).catch(() => undefined);
    if (stat === undefined) return true;
    if (!stat.isDirectory()) return false;
  }
  return true;
};

/** @param dir absolute; holds one folder a key, and belongs to the owner of the state home alone */
export const createDependencies = (options: {
  readonly repository: Repository;
  readonly dir: string;
  readonly proofs: ProofMemory;
}): Dependencies => {
  const { repository, dir: home, proofs } = options;

  const gitOf = async (dir: string): Promise<Git> =>
    (await isFolder(path.join(dir, '.git')))
      ? createGit(dir, { gitDir: path.join(dir, '.git'), workTree: dir })
      : (await linkedWorktree(repository, dir)).git;

  const manifestFile = (key: string): string => path.join(home, key, 'manifest.json');

  const discard = async (key: string): Promise<void> => {
    await proofs.put(key, undefined);
    await removeFolder(path.join(home, key));
  };

  /** The list of what was kept under a key, if it is the one that was written. */
  const readManifest = async (key: string): Promise<Manifest | undefined> => {
    const text = await readFile(manifestFile(key), 'utf8').catch(() => undefined);
    return text === undefined || hash(text) !== proofs.get(key) ? undefined : (JSON.parse(text) as Manifest);
  };

  const isProven = async (key: string, manifest: Manifest): Promise<boolean> => {
    const now = await readFolder(path.join(home, key, 'folders'));
    return now.size === manifest.marks.length && manifest.marks.every(([file, mark]) => now.get(file)?.mark === mark);
  };

  const restore = async (key: string, dir: string, folders: readonly string[]): Promise<boolean> => {
    if (proofs.get(key) === undefined && !(await isFolder(path.join(home, key)))) return false;
    const clear = async (): Promise<void> => {
      for (const folder of folders) await removeFolder(path.join(dir, folder));
    };
    try {
      const manifest = await readManifest(key);
      if (manifest === undefined) throw new Defect('The list of what was kept is not the one that was written.');
      await clear();
      for (const folder of manifest.folders) {
        await mkdir(path.dirname(path.join(dir, folder)), { recursive: true });
        await copyFolder(path.join(home, key, 'folders', String(folders.indexOf(folder))), path.join(dir, folder));
      }
      // After the copying, so that nothing could have changed before or meanwhile.
      if (!(await isProven(key, manifest))) throw new Defect('The kept folders were changed.');
      const now = new Date();
      await utimes(manifestFile(key), now, now);
      return true;
    } catch {
      await clear();
      await discard(key);
      return false;
    }
  };

  /** @returns why nothing was kept; '' when it was */
  const keep = async (key: string, dir: string, folders: readonly string[]): Promise<string> => {
    const made: string[] = [];
    for (const folder of folders) if ((await standsInside(dir, folder)) && (await isFolder(path.join(dir, folder)))) made.push(folder);
    if (made.length === 0) return `The set-up command made none of the folders ${folders.join(', ')}.`;
    const fresh = path.join(home, `new-${randomBytes(6).toString('hex')}`);
    try {
      await mkdir(path.join(fresh, 'folders'), { recursive: true });
      const look = refuseOwnPlace(dir);
      for (const folder of made)
        await copyFolder(path.join(dir, folder), path.join(fresh, 'folders', String(folders.indexOf(folder))), look);
      await wait(restMs);
      const lookedAtMs = Date.now();
      const state = await readFolder(path.join(fresh, 'folders'));
      const marks = [...provingMarks(state, lookedAtMs)];
      if (marks.length !== state.size) return 'The file system keeps no exact times of change.';
      if (marks.length > entriesMax) return `The folders hold ${marks.length} entries; at most ${entriesMax} are kept.`;
      const bytes = [...state.values()].reduce((sum, entry) => sum + entry.bytes, 0);
      const text = JSON.stringify({ folders: made, marks, bytes } satisfies Manifest);
      await writeFile(path.join(fresh, 'manifest.json'), text);
      // Another run may have kept the same meanwhile: one of both is enough.
      if ((await readManifest(key)) !== undefined) return '';
      await discard(key);
      await rename(fresh, path.join(home, key));
      await proofs.put(key, hash(text));
      return '';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      await removeFolder(fresh);
    }
  };

  const entries = async (): Promise<readonly string[]> => readdir(home).catch(() => []);

  const list: Dependencies['list'] = async () => {
    const found: { readonly key: string; readonly bytes: number; readonly usedAt: number }[] = [];
    for (const key of await entries()) {
      const manifest = await readManifest(key);
      const stat = await lstat(manifestFile(key)).catch(() => undefined);
      if (manifest !== undefined && stat !== undefined) found.push({ key, bytes: manifest.bytes + stat.size, usedAt: stat.mtimeMs });
    }
    return found;
  };

  return {
    list,

    async provide({ mayKeep, ...place }, setUp) {
      const plain = async (why: string): Promise<Filled> => {
        await setUp();
        return { from: 'set-up', kept: false, why };
      };
      const { dir, prefix } = place;
      const folders = place.folders.map((folder) => path.posix.join(prefix, folder));
      const git = await gitOf(dir);
      const tracked = await git.fields(['ls-files', '-z']);
      const taken = folders.find((folder) => tracked.some((file) => file === folder || file.startsWith(`${folder}/`)));
      if (taken !== undefined) return plain(`${taken} holds committed files.`);
      for (const folder of folders) if (!(await standsInside(dir, folder))) return plain(`${folder} stands behind a link.`);
      const key = await dependencyKey(place, tracked);
      if (key === undefined) return plain('No lock file says what the dependencies are.');
      if (await restore(key, dir, folders)) return { from: 'kept' };
      if (!(await setUp())) return { from: 'set-up', kept: false, why: 'The set-up command failed.' };
      if (!mayKeep) return { from: 'set-up', kept: false, why: 'The checkout is not one of a commit of yours alone.' };
      const more = await otherTraces(git, folders);
      if (more.length > 0)
        return { from: 'set-up', kept: false, why: `The set-up command made more than these folders: ${more.slice(0, 5).join(', ')}.` };
      const why = await keep(key, dir, folders);
      return { from: 'set-up', kept: why === '', why };
    },

    async shrink(bytes) {
      const kept = (await list()).toSorted((a, b) => a.usedAt - b.usedAt);
      let left = kept.reduce((sum, one) => sum + one.bytes, 0);
      for (const one of kept) {
        if (left <= bytes) break;
        await discard(one.key);
        left -= one.bytes;
      }
      return left;
    },

    async tidy() {
      for (const name of await entries()) if ((await readManifest(name)) === undefined) await discard(name).catch(() => {});
    },
  };
};

/** What of a checkout is not as committed, the dependency folders left out: a set-up whose traces are elsewhere too has to run each time. */
const otherTraces = async (git: Git, folders: readonly string[]): Promise<readonly string[]> => {
  const left = folders.map((folder) => `:(top,exclude,literal)${folder}`);
  const found = await git.fields(['status', '--porcelain', '-z', '--no-renames', '--ignored=traditional', '--', ':(top)', ...left], {
    env: { GIT_LITERAL_PATHSPECS: '0' },
  });
  return found.map((field) => field.slice(3));
};
