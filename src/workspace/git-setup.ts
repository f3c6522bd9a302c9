import { createHash } from 'node:crypto';
import { lstat, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createGit, type Git } from './git.ts';
import type { GitSetup, Repository } from './port.ts';
import { listRefs } from './refs.ts';
import { readSettings } from './settings.ts';

// All worktrees share one git folder, so an agent can reach what decides which bytes a checkout writes (filters, attributes) and which
// programs git runs in the user's name (hooks, aliases, helpers). Such a change is neither work nor harmless.

/** Settings that git and editors write in passing, and that run nothing and convert nothing. */
const passing = /^(?:branch\.|gui\.|color\.|gc\.|maintenance\.|rerere\.|vscode|lfs\.[^.]+\.access$)/i;
const files: readonly string[] = ['info/attributes', 'info/grafts', 'objects/info/alternates'];

const stateOf = async (file: string): Promise<string | undefined> => {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return stat === undefined ? undefined : 'no file';
  const bytes = stat.isFile() ? await readFile(file).catch(() => Buffer.from('unreadable')) : Buffer.from('link');
  return `${stat.mode.toString(8)} ${createHash('sha256').update(bytes).digest('hex')}`;
};

/** Values of the repository's own files, all of a key together: a second one that is added counts as a change. */
const settingsOf = async (git: Git): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  for (const { scope, key, value } of await readSettings(git)) {
    if ((scope !== 'local' && scope !== 'worktree') || passing.test(key)) continue;
    found.set(key, `${found.get(key) ?? ''}${value === undefined ? '' : `\n${value}`}`);
  }
  return found;
};

/** What decides how git behaves in the repository, name to state. Reads alone. */
export const readGitSetup = async (repository: Repository): Promise<GitSetup> => {
  const git = createGit(repository.root);
  const setup: Record<string, string> = {};
  for (const [key, value] of await settingsOf(git)) setup[`setting ${key}`] = value;
  const hooks = await readdir(path.join(repository.commonDir, 'hooks')).catch(() => []);
  for (const name of [...hooks.filter((hook) => !hook.endsWith('.sample')).map((hook) => `hooks/${hook}`), ...files]) {
    const state = await stateOf(path.join(repository.commonDir, name));
    if (state !== undefined) setup[name] = state;
  }
  for (const [ref, object] of await listRefs(git, 'refs/replace')) setup[ref] = object;
  return setup;
};

/** Names of what differs, sorted. A remote that came new is the user's business: it changes nothing that was there. */
export const gitSetupChanges = (before: GitSetup, after: GitSetup): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => before[name] !== after[name])
    .filter((name) => !(name.startsWith('setting remote.') && before[name] === undefined))
    .toSorted();
