import type { Git } from './git.ts';

/** One value of git's configuration, as `git config --list --show-scope` tells it. */
export interface Setting {
  /** `system`, `global`, `local`, `worktree` or `command`. */
  readonly scope: string;
  /** Section and name in lower case, the part between them as it was written. */
  readonly key: string;
  /** Undefined for a key without `=`, which git reads as true. */
  readonly value: string | undefined;
}

/**
 * The whole configuration that counts in a folder, in git's order (later wins), included files too: one question instead of one a key.
 * Read anew each time, because an agent can reach the file.
 */
export const readSettings = async (git: Git): Promise<readonly Setting[]> => {
  const fields = (await git.run(['config', '--list', '--includes', '-z', '--show-scope'])).bytes.toString('utf8').split('\0');
  const settings: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const text = fields[at + 1] ?? '';
    const end = text.indexOf('\n');
    settings.push({ scope: fields[at] ?? '', key: end < 0 ? text : text.slice(0, end), value: end < 0 ? undefined : text.slice(end + 1) });
  }
  return settings;
};

/** The value that counts for a key, undefined when it is not set or has none. */
export const settingOf = (settings: readonly Setting[], key: string): string | undefined =>
  settings.findLast((setting) => setting.key === key)?.value;

/** A line of a configuration file that gives a key this value, with its section (git-config, "Syntax"). */
export const settingText = (key: string, value: string): string => {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  const escaped = (text: string): string => text.replace(/[\\"]/g, String.raw`\$&`);
  const section = first === last ? key.slice(0, first) : `${key.slice(0, first)} "${escaped(key.slice(first + 1, last))}"`;
  return `[${section}]\n\t${key.slice(last + 1)} = "${escaped(value).replaceAll('\n', String.raw`\n`)}"\n`;
};
