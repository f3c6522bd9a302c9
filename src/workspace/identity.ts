import type { Git } from './git.ts';

/** Who commits where nobody is configured. `localhost` cannot belong to a stranger. */
const engineName = 'Gyre';
const engineEmail = 'gyre@localhost';

/**
 * Variables that name author and committer of a commit Gyre makes: empty where the user configured both name and address, Gyre itself
 * where not. Without this git would guess an address from the host name, or fail.
 * @param seconds time of the commit, seconds since the epoch; a landing made again has the same name then
 */
export const identityOf = async (git: Git, seconds: number): Promise<Record<string, string>> => {
  const dates = { GIT_AUTHOR_DATE: `@${Math.floor(seconds)} +0000`, GIT_COMMITTER_DATE: `@${Math.floor(seconds)} +0000` };
  const known = async (variable: string): Promise<boolean> =>
    (await git.run(['var', variable], { settings: ['user.useConfigOnly=true'], allow: [1, 128] })).code === 0;
  const author = (await known('GIT_AUTHOR_IDENT')) ? {} : { GIT_AUTHOR_NAME: engineName, GIT_AUTHOR_EMAIL: engineEmail };
  const committer = (await known('GIT_COMMITTER_IDENT')) ? {} : { GIT_COMMITTER_NAME: engineName, GIT_COMMITTER_EMAIL: engineEmail };
  return { ...dates, ...author, ...committer };
};
