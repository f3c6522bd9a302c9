import type { Git } from './git.ts';
import { readSettings, settingOf, type Setting } from './settings.ts';

/** Who commits where nobody is configured. `localhost` cannot belong to a stranger. */
const engineName = 'Gyre';
const engineEmail = 'gyre@localhost';

/** What git takes off both ends of a name; a name of nothing else is none (ident.c, `crud`). */
// eslint-disable-next-line no-control-regex
const onlyCrud = /^[\u0000-\u0020.,:;<>"\\']*$/;

/** Whether git would find both name and address without guessing: what `user.useConfigOnly` asks for. */
const isKnown = (settings: readonly Setting[], role: 'author' | 'committer'): boolean => {
  const name = settingOf(settings, `${role}.name`) ?? settingOf(settings, 'user.name') ?? '';
  return !onlyCrud.test(name) && (settingOf(settings, `${role}.email`) ?? settingOf(settings, 'user.email')) !== undefined;
};

/**
 * Variables that name author and committer of a commit Gyre makes: empty where the user configured both name and address, Gyre itself
 * where not. Without this git would guess an address from the host name, or fail.
 * @param seconds time of the commit, seconds since the epoch; a landing made again has the same name then
 */
export const identityOf = async (git: Git, seconds: number): Promise<Record<string, string>> => {
  const settings = await readSettings(git);
  const author = isKnown(settings, 'author') ? {} : { GIT_AUTHOR_NAME: engineName, GIT_AUTHOR_EMAIL: engineEmail };
  const committer = isKnown(settings, 'committer') ? {} : committerOf();
  return { ...datesOf(seconds), ...author, ...committer };
};

const datesOf = (seconds: number): Record<string, string> => ({
  GIT_AUTHOR_DATE: `@${Math.floor(seconds)} +0000`,
  GIT_COMMITTER_DATE: `@${Math.floor(seconds)} +0000`,
});

const committerOf = (): Record<string, string> => ({ GIT_COMMITTER_NAME: engineName, GIT_COMMITTER_EMAIL: engineEmail });

/** Variables for moving refs of Gyre's own where no commit is made: the log of a ref, if one is kept, says that Gyre moved it. */
export const engineIdentity = (seconds: number): Record<string, string> => ({ ...datesOf(seconds), ...committerOf() });
