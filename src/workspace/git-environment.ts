import { accessSync, constants } from 'node:fs';
import path from 'node:path';

// The environment of every git call is made from nothing. Git reads some forty GIT_* variables; one that is left over from a hook or
// a shell (GIT_DIR, GIT_INDEX_FILE) would send a commit into another repository. So nothing is inherited but the names below.

/** What a git child may know of the machine: where programs and configuration are, and how keys are reached for signing. */
const inherited = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TMP',
  'TEMP',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'GNUPGHOME',
  'SSH_AUTH_SOCK',
  'SystemRoot',
  'USERPROFILE',
  'APPDATA',
] as const;

const fixed: Readonly<Record<string, string>> = {
  // Git translates its messages; the lock and refusal patterns of this folder read the English ones.
  LC_ALL: 'C',
  // Nobody is there to answer. A question that cannot be asked is an error, not a wait.
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  GIT_EDITOR: 'false',
  // `git status` would otherwise rewrite the user's index to refresh its times.
  GIT_OPTIONAL_LOCKS: '0',
  // Objects and histories are what their names say: `git replace` and grafts in the shared git folder would show others in their place.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  // File names are names, never patterns.
  GIT_LITERAL_PATHSPECS: '1',
  // With git-lfs, an object that is not here stays a pointer file.
  GIT_LFS_SKIP_DOWNLOAD_ERRORS: '1',
};

/** The complete environment of a git child. @param host the environment of the engine */
export const gitEnvironment = (host: Readonly<Record<string, string | undefined>>): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const name of inherited) {
    const value = host[name];
    if (value !== undefined) kept[name] = value;
  }
  return { ...kept, ...fixed };
};

const always: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'advice.detachedHead=false',
  'log.showSignature=false',
  'color.ui=false',
];

// `filter.lfs.required` fails every checkout on a machine that has the configuration and not the program.
const withoutLfs: readonly string[] = ['filter.lfs.required=false', 'filter.lfs.smudge=', 'filter.lfs.clean=', 'filter.lfs.process='];

const onPath = (program: string, searchPath: string): boolean =>
  searchPath.split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });

// Looked for once in a process: a run makes some forty calls, and each look touches every folder of the path.
const lfsByPath = new Map<string, boolean>();

const hasLfs = (searchPath: string): boolean => {
  const known = lfsByPath.get(searchPath);
  if (known !== undefined) return known;
  const found = onPath('git-lfs', searchPath);
  lfsByPath.set(searchPath, found);
  return found;
};

/** Settings given to every call as `-c`, stronger than any file: hooks, upkeep in the background and file monitors are off. */
export const gitSettings = (env: Readonly<Record<string, string>>): readonly string[] => {
  const settings = hasLfs(env['PATH'] ?? '') ? always : [...always, ...withoutLfs];
  return settings.flatMap((setting) => ['-c', setting]);
};
