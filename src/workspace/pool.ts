import { createHash, randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CommitSha } from '../core/ids.ts';
import { Defect } from '../core/fault.ts';
import { checkoutRules } from './checkout-rules.ts';
import { folderUsers } from './folder-users.ts';
import { type EntryState, provingMarks, readFolder } from './folder-state.ts';
import { notFresh } from './fresh-check.ts';
import { createGit, type Git } from './git.ts';
import { keepProven } from './keep-proven.ts';
import type { Repository } from './port.ts';
import { folderBytes, removeFolder } from './remove-folder.ts';
import { readSettings } from './settings.ts';
import { parseEntry, pathsBetween, treeOf } from './tree-reading.ts';
import type { LinkedWorktree } from './worktree-link.ts';

// Folders of finished workspaces, and ones filled in advance, for the next run. Invariants:
// 1. Nothing of git's is used again: worktree entry, index, HEAD, settings and flags of the next workspace are new. Only files are.
// 2. A file is used again when inode and change time prove that nobody touched it since git wrote it. All else git writes anew.
// 3. What proves it stays in the memory of this process (as a hash of the list on disk): a list that an agent wrote proves nothing, and
//    what an earlier process left is thrown away.
// 4. Whatever is odd (another rule of checkout, a process still in the folder, an error) costs the folder, never the proof.

/** Git writes the files of a large checkout with all cores; small ones are not worth the processes. */
export const checkoutSettings: readonly string[] = [
  'checkout.workers=0',
  'checkout.thresholdForParallelism=2000',
  'core.splitIndex=false',
  'core.untrackedCache=false',
];

const foldersKept = 4;
/** A smaller checkout is made faster than it is proven. */
const entriesWorth = 10_000;

interface Proof {
  readonly commit: CommitSha;
  /** Hash of `checkoutRules` at that time. */
  readonly rules: string;
  /** Hashes of the list of marks and of the index, as written by this process. */
  readonly marks: string;
  readonly index: string;
}

interface PooledFolder extends Proof {
  /** `<home>/tree`, `<home>/marks.json`, `<home>/index`. */
  readonly home: string;
  readonly kind: 'spare' | 'recycled';
}

export interface WorkspacePool {
  /** Files of the commit into a new worktree that has none yet, from a pooled folder where one can be used. */
  fill(worktree: LinkedWorktree, run: string, commit: CommitSha): Promise<'new' | 'reused'>;
  /** Takes the folder of a finished workspace over; false when it is to be removed as ever. */
  give(run: string, dir: string): Promise<boolean>;
  /** Makes spare folders at a commit until there are `count` of them, at most four. @returns how many there are */
  warm(count: number, commit: CommitSha): Promise<number>;
  /**
   * Removes pooled folders, spares first, until those left hold at most `bytes`.
   * @param only removes no other kind
   * @returns bytes left
   */
  shrink(bytes: number, only?: 'spare'): Promise<number>;
  /** Removes every pooled folder. */
  close(): Promise<void>;
}

const hash = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** How many entries an index has: the third number of its head (gitformat-index). */
const entriesIn = async (indexFile: string): Promise<number> => {
  const index = await readFile(indexFile);
  return index.length < 12 ? 0 : index.readUInt32BE(8);
};

/**
 * @param options.dir absolute; holds the pooled folders and belongs to the owner of the state home alone
 * @param options.entriesMin files a commit must have for its folder to be used again; 10,000 by default
 */
export const createPool = (options: {
  readonly repository: Repository;
  readonly dir: string;
  readonly entriesMin?: number;
}): WorkspacePool => {
  const { repository, entriesMin = entriesWorth } = options;
  const git = createGit(repository.root);
  const proofs = new Map<string, Proof>();
  let folders: readonly PooledFolder[] = [];

  const rulesNow = async (): Promise<string | undefined> => checkoutRules(repository, await readSettings(git));

  const drop = async (folder: PooledFolder): Promise<void> => {
    folders = folders.filter((one) => one !== folder);
    await removeFolder(folder.home);
  };

  const notesOf = (run: string): string => path.join(options.dir, 'runs', run);

  /** Writes the list of marks and a copy of the index, and gives what proves them. */
  const prove = async (place: {
    readonly worktree: Pick<LinkedWorktree, 'dir' | 'git'>;
    readonly indexFile: string;
    readonly notes: string;
    readonly commit: CommitSha;
    readonly rules: string;
    /** Files proven a moment ago, which nobody has written since. */
    readonly known?: ReadonlyMap<string, EntryState>;
  }): Promise<Proof | undefined> => {
    const { worktree, notes, commit, rules } = place;
    const env = { GIT_INDEX_FILE: place.indexFile };
    const lookedAtMs = Date.now();
    const state = await readFolder(worktree.dir, place.known);
    const entries = (await worktree.git.fields(['ls-files', '-s', '-z'], { env })).map(parseEntry);
    const problem = notFresh(state, entries, process.umask());
    if (problem !== undefined) throw new Defect(`The folder is not what a fresh checkout is: ${problem}.`);
    if (entries.some((entry) => entry.path === '.gitmodules') || (await usesFilter(worktree.dir, entries))) return undefined;
    const marks = JSON.stringify([...provingMarks(state, lookedAtMs)]);
    await mkdir(notes, { recursive: true });
    await writeFile(path.join(notes, 'marks.json'), marks);
    const index = await readFile(place.indexFile);
    await writeFile(path.join(notes, 'index'), index);
    return { commit, rules, marks: hash(marks), index: hash(index) };
  };

  /** Moves what is proven of a pooled folder into an empty worktree, with the index that knows it. @returns the files moved */
  const moveInto = async (worktree: LinkedWorktree, folder: PooledFolder): Promise<ReadonlyMap<string, EntryState>> => {
    const tree = path.join(folder.home, 'tree');
    const users = await folderUsers(tree);
    if (users === undefined || users.length > 0) throw new Defect('Somebody may still work in the folder.');
    const text = await readFile(path.join(folder.home, 'marks.json'), 'utf8');
    const index = await readFile(path.join(folder.home, 'index'));
    if (hash(text) !== folder.marks || hash(index) !== folder.index) throw new Defect('The notes on the folder were changed.');
    const kept = await keepProven(tree, new Map(JSON.parse(text) as [string, string][]));
    // Files directly in the top folder are few, and that folder is new: git writes them.
    for (const entry of await readdir(tree, { withFileTypes: true }))
      if (entry.isDirectory()) await rename(path.join(tree, entry.name), path.join(worktree.dir, entry.name));
    await copyFile(path.join(folder.home, 'index'), path.join(worktree.admin, 'index'));
    // Files directly in the top folder were not moved.
    return new Map([...kept].filter(([file]) => file.includes('/')));
  };

  const empty = async (worktree: LinkedWorktree): Promise<void> => {
    for (const name of await readdir(worktree.dir)) if (name !== '.git') await removeFolder(path.join(worktree.dir, name));
    await rm(path.join(worktree.admin, 'index'), { force: true });
  };

  const checkOut = async (at: Git, commit: CommitSha, env: Readonly<Record<string, string>> = {}): Promise<void> =>
    void (await at.run(['read-tree', '--reset', '-u', commit], { settings: checkoutSettings, env }));

  /** The pooled folder nearest to a commit: one of that very commit, else the newest. Claimed before anything is awaited. */
  const claim = (commit: CommitSha, rules: string): PooledFolder | undefined => {
    const fitting = folders.filter((folder) => folder.rules === rules);
    const chosen = fitting.find((folder) => folder.commit === commit) ?? fitting.at(-1);
    folders = folders.filter((folder) => folder !== chosen);
    return chosen;
  };

  const reuse = async (
    worktree: LinkedWorktree,
    run: string,
    target: { readonly commit: CommitSha; readonly rules: string },
  ): Promise<boolean> => {
    const folder = claim(target.commit, target.rules);
    if (folder === undefined) return false;
    try {
      const changed = folder.commit === target.commit ? [] : await pathsBetween(git, folder.commit, target.commit);
      // Attributes of a file decide its bytes.
      if (changed.some((file) => path.posix.basename(file) === '.gitattributes')) return false;
      const moved = await moveInto(worktree, folder);
      await checkOut(worktree.git, target.commit);
      const tree = await worktree.git.line(['write-tree']);
      if (tree !== (await treeOf(git, target.commit))) return false;
      const written = new Set(changed);
      const known = new Map([...moved].filter(([file]) => !written.has(file)));
      const proof = await prove({ ...target, worktree, indexFile: path.join(worktree.admin, 'index'), notes: notesOf(run), known });
      if (proof !== undefined) proofs.set(run, proof);
      return true;
    } catch {
      return false;
    } finally {
      // What cannot be removed stays in the pool's own folder until the next start.
      await removeFolder(folder.home).catch(() => {});
    }
  };

  return {
    async fill(worktree, run, commit) {
      const known = folders.length > 0 ? await rulesNow() : undefined;
      if (known !== undefined && (await reuse(worktree, run, { commit, rules: known }))) return 'reused';
      await empty(worktree);
      await checkOut(worktree.git, commit);
      const indexFile = path.join(worktree.admin, 'index');
      const rules = (await entriesIn(indexFile)) < entriesMin ? undefined : await rulesNow();
      if (rules !== undefined) {
        // A folder that cannot be proven (a file name that is not text) is removed after its run, as ever.
        const proof = await prove({ worktree, indexFile, notes: notesOf(run), commit, rules }).catch(() => undefined);
        if (proof !== undefined) proofs.set(run, proof);
      }
      return 'new';
    },

    async give(run, dir) {
      const proof = proofs.get(run);
      proofs.delete(run);
      if (proof === undefined || folders.length >= foldersKept) {
        await removeFolder(notesOf(run));
        return false;
      }
      const home = path.join(options.dir, `folder-${randomBytes(6).toString('hex')}`);
      try {
        await rename(notesOf(run), home);
        await rename(dir, path.join(home, 'tree'));
      } catch {
        await removeFolder(home);
        return false;
      }
      folders = [...folders, { ...proof, home, kind: 'recycled' }];
      return true;
    },

    async warm(count, commit) {
      const rules = await rulesNow();
      if (rules === undefined) return 0;
      const ready = (): number => folders.filter((folder) => folder.commit === commit && folder.kind === 'spare').length;
      for (const old of folders.filter((folder) => folder.kind === 'spare' && folder.commit !== commit)) await drop(old);
      while (ready() < count && folders.length < foldersKept) {
        const home = path.join(options.dir, `folder-${randomBytes(6).toString('hex')}`);
        const tree = path.join(home, 'tree');
        const indexFile = path.join(home, 'filling.index');
        await mkdir(tree, { recursive: true });
        const at = createGit(tree, { gitDir: repository.commonDir, workTree: tree });
        await at.run(['read-tree', commit], { env: { GIT_INDEX_FILE: indexFile }, settings: checkoutSettings });
        // Known before a file is written: a small commit is asked for again and again.
        if ((await entriesIn(indexFile)) < entriesMin) {
          await removeFolder(home);
          break;
        }
        await checkOut(at, commit, { GIT_INDEX_FILE: indexFile });
        const proof = await prove({ worktree: { dir: tree, git: at }, indexFile, notes: home, commit, rules }).catch(() => undefined);
        if (proof === undefined) {
          await removeFolder(home);
          break;
        }
        folders = [...folders, { ...proof, home, kind: 'spare' }];
      }
      return ready();
    },

    async shrink(bytes, only) {
      const sized = await Promise.all(folders.map(async (folder) => ({ folder, bytes: await folderBytes(folder.home) })));
      let left = sized.reduce((sum, one) => sum + one.bytes, 0);
      for (const one of sized.toSorted((a, b) => Number(b.folder.kind === 'spare') - Number(a.folder.kind === 'spare'))) {
        if (left <= bytes) break;
        if (only !== undefined && one.folder.kind !== only) continue;
        await drop(one.folder);
        left -= one.bytes;
      }
      return left;
    },

    async close() {
      folders = [];
      proofs.clear();
      await removeFolder(options.dir);
    },
  };
};

/** Whether a file is written by a program (git-lfs, git-crypt): what that writes depends on more than can be compared. */
const usesFilter = async (dir: string, entries: readonly { readonly path: string }[]): Promise<boolean> => {
  for (const { path: file } of entries.filter((entry) => path.posix.basename(entry.path) === '.gitattributes'))
    if (/\bfilter\b/.test(await readFile(path.join(dir, file), 'utf8').catch(() => 'filter'))) return true;
  return false;
};
