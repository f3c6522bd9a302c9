import { lstat, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../core/fault.ts';
import { makeDetachedCopy } from './detached-copy.ts';
import { createGit, type Git } from './git.ts';
import { identityOf } from './identity.ts';
import type { Repository } from './port.ts';
import { savedRef, shortHash } from './refs.ts';
import { parseEntry } from './tree-reading.ts';

// `git submodule update` would clone over the network and write `submodule.*.url` into the user's configuration. The objects are
// here already, in the user's own submodule; each submodule of a workspace is a detached copy that reads them.

const deepest = 8;

/** Where the submodules of one superproject come from. */
interface Origin {
  /** Git folders that may hold `modules/<name>`, and the configuration with the addresses. */
  readonly gitDirs: readonly string[];
  /** Work tree in which a submodule may have its git folder inside; undefined for a bare or nested origin. */
  readonly workTree: string | undefined;
}

interface Filled {
  readonly path: string;
  readonly gitDir: string;
  readonly source: string;
  readonly commit: string;
}

export interface SubmoduleState extends Filled {
  readonly head: string;
  readonly dirty: boolean;
  /** The commit now checked out is one that the user's own submodule has. */
  readonly known: boolean;
}

const isFolder = async (file: string): Promise<boolean> => (await stat(file).catch(() => undefined))?.isDirectory() ?? false;

// A name is a path below `modules/`; git refuses these too (check_submodule_name).
const safeName = (name: string): boolean => name !== '' && !path.isAbsolute(name) && !name.split(/[/\\]/).includes('..');

const namesByPath = async (git: Git): Promise<Map<string, string>> => {
  const { code, bytes } = await git.run(['config', '-z', '--blob', ':.gitmodules', '--get-regexp', String.raw`^submodule\..*\.path$`], {
    allow: [1, 128],
  });
  const names = new Map<string, string>();
  if (code !== 0) return names;
  for (const setting of bytes.toString('utf8').split('\0')) {
    const end = setting.indexOf('\n');
    const name = setting.slice('submodule.'.length, end - '.path'.length);
    if (end > 0 && safeName(name)) names.set(setting.slice(end + 1), name);
  }
  return names;
};

export const gitlinks = async (git: Git, env: Readonly<Record<string, string>> = {}): Promise<Map<string, string>> => {
  const entries = (await git.fields(['ls-files', '-s', '-z'], { env })).map(parseEntry);
  return new Map(entries.filter((entry) => entry.mode === '160000').map((entry) => [entry.path, entry.object]));
};

const sourceOf = async (origin: Origin, name: string, place: string): Promise<string | undefined> => {
  const inside = origin.workTree === undefined ? [] : [path.join(origin.workTree, place, '.git')];
  for (const dir of [...origin.gitDirs.map((gitDir) => path.join(gitDir, 'modules', name)), ...inside]) {
    if (await isFolder(path.join(dir, 'objects'))) return dir;
  }
  return undefined;
};

const hasCommit = async (gitDir: string, commit: string): Promise<boolean> =>
  (await createGit(gitDir, { gitDir }).run(['cat-file', '-e', `${commit}^{commit}`], { allow: [1, 128] })).code === 0;

const fetchMissing = async (
  git: Git,
  origin: Origin,
  wanted: { readonly name: string; readonly path: string; readonly commit: string },
): Promise<void> => {
  const from = origin.gitDirs[0] ?? '';
  // The address is the one the user accepted into the configuration, never the one in a `.gitmodules` that an agent may have written.
  const url = await createGit(from, { gitDir: from }).run(['config', '--get', `submodule.${wanted.name}.url`], { allow: [1] });
  const address = url.bytes.toString('utf8').trim();
  try {
    if (address === '') throw new Error('no address is configured');
    await git.run(['fetch', '-q', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--', address, wanted.commit], {
      settings: ['protocol.file.allow=always'],
      limitMs: 120_000,
    });
  } catch (cause) {
    throw new Fault(
      'SUBMODULE_UNAVAILABLE',
      `Commit ${wanted.commit} of submodule ${wanted.path} is not in this repository and could not be fetched.`,
      {
        hint: 'Run `git submodule update --init` in your checkout once.',
        cause,
      },
    );
  }
};

const fill = async (
  git: Git,
  origin: Origin,
  place: { readonly modulesDir: string | undefined; readonly prefix: string; readonly depth: number },
): Promise<void> => {
  const links = await gitlinks(git);
  if (links.size === 0 || place.depth > deepest) return;
  const names = await namesByPath(git);
  for (const [link, commit] of links) {
    const name = names.get(link);
    const source = name === undefined ? undefined : await sourceOf(origin, name, link);
    // Not filled in the user's checkout either.
    if (name === undefined || source === undefined) continue;
    const whole = path.posix.join(place.prefix, link);
    const gitDir = place.modulesDir === undefined ? undefined : path.join(place.modulesDir, shortHash(whole));
    const copy = await makeDetachedCopy({ sourceDir: source, dir: path.join(git.dir, link), gitDir });
    if (!(await hasCommit(source, commit))) await fetchMissing(copy, origin, { name, path: whole, commit });
    await copy.run(['checkout', '-q', '--detach', '--force', commit]);
    if (gitDir !== undefined) {
      const record: Filled = { path: whole, gitDir, source, commit };
      await writeFile(path.join(gitDir, 'gyre-submodule.json'), JSON.stringify(record));
    }
    await fill(copy, { gitDirs: [source], workTree: undefined }, { ...place, prefix: whole, depth: place.depth + 1 });
  }
};

/**
 * Fills the submodules of a fresh checkout at the commits its index names, from those of the user, nested ones too. One that the user
 * has not filled stays empty.
 * @param checkout.modulesDir where the git folders of the submodules go (out of the agent's folder); inside of each submodule when undefined
 * @param checkout.sparse whether files of the commit may be missing from the folder
 * @throws Fault `SUBMODULE_UNAVAILABLE`
 */
export const fillSubmodules = async (
  git: Git,
  repository: Repository,
  checkout: { readonly modulesDir: string | undefined; readonly sparse: boolean },
): Promise<void> => {
  const { modulesDir, sparse } = checkout;
  // Without this file no submodule has a name, so none can be found in the user's checkout.
  if (!sparse && (await lstat(path.join(git.dir, '.gitmodules')).catch(() => undefined)) === undefined) return;
  const gitDir = await createGit(repository.root).line(['rev-parse', '--absolute-git-dir']);
  const gitDirs = [...new Set([repository.commonDir, gitDir])];
  await fill(git, { gitDirs, workTree: repository.bare ? undefined : repository.root }, { modulesDir, prefix: '', depth: 0 });
};

const moduleGit = (dir: string, filled: Filled): Git => {
  const workTree = path.join(dir, filled.path);
  return createGit(workTree, { gitDir: filled.gitDir, workTree });
};

/** The submodules that were filled into a workspace, with what has become of them. */
export const submoduleStates = async (dir: string, modulesDir: string): Promise<SubmoduleState[]> => {
  const states: SubmoduleState[] = [];
  for (const entry of await readdir(modulesDir).catch(() => [])) {
    const text = await readFile(path.join(modulesDir, entry, 'gyre-submodule.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const filled = JSON.parse(text) as Filled;
    const head = await createGit(filled.gitDir, { gitDir: filled.gitDir }).line(['rev-parse', '--verify', '-q', 'HEAD'], { allow: [1] });
    // A link instead of the folder would lead git out of the workspace.
    const there = (await lstat(path.join(dir, filled.path)).catch(() => undefined))?.isDirectory() === true;
    const changes = there
      ? await moduleGit(dir, filled).fields(['status', '--porcelain', '-z', '--untracked-files=all', '--ignore-submodules=all'])
      : [];
    states.push({ ...filled, head, dirty: changes.length > 0, known: head !== '' && (await hasCommit(filled.source, head)) });
  }
  return states.sort((a, b) => (a.path < b.path ? -1 : 1));
};

/** Whether something stands in the submodule that the user's own one does not have. */
export const holdsWork = (state: SubmoduleState): boolean => state.dirty || !state.known;

/** Keeps the work in a submodule as `refs/gyre/saved/<run>` of the user's submodule. Its checkout there is not touched. */
export const saveSubmodule = async (
  state: SubmoduleState,
  from: { readonly dir: string; readonly run: string; readonly nowMs: number },
): Promise<void> => {
  const { dir, run } = from;
  const git = moduleGit(dir, state);
  const indexFile = path.join(state.gitDir, 'gyre-saving.index');
  const env = { GIT_INDEX_FILE: indexFile, ...(await identityOf(git, from.nowMs / 1000)) };
  await git.run(['read-tree', state.head], { env });
  await git.run(['add', '-A', '--', '.'], { env });
  const tree = await git.line(['write-tree'], { env });
  const commit = await git.line(['commit-tree', '--no-gpg-sign', '-p', state.head, '-m', `Saved from run ${run}`, tree], { env });
  await git.run(['update-ref', 'refs/gyre/saving', commit], { env });
  await rm(indexFile, { force: true });
  await createGit(state.source, { gitDir: state.source }).run(
    [
      'fetch',
      '-q',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-recurse-submodules',
      '--',
      state.gitDir,
      `+refs/gyre/saving:${savedRef(run)}`,
    ],
    { settings: ['protocol.file.allow=always'] },
  );
};
