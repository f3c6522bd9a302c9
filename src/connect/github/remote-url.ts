export interface RemotePlace {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

const part = '[A-Za-z0-9](?:[A-Za-z0-9._-]{0,99})';
/** `owner/name` as the service allows them. */
export const repositoryPattern = new RegExp(`^(${part})/(${part})$`);

const withScheme = /^(?:https?|ssh|git|git\+ssh):\/\/(?:[^@/]*@)?([^/:@]+)(?::\d+)?\/(.+)$/;
const scpLike = /^(?:[^@/]+@)?([^/:@]+):(?!\/)(.+)$/;

/**
 * Host and repository of a remote's address: `https://host/owner/name.git`, `ssh://git@host/owner/name`, `git@host:owner/name.git`.
 * Pure. `undefined` for anything else, such as a folder of this machine.
 */
export const remotePlace = (url: string): RemotePlace | undefined => {
  const [, host, path] = withScheme.exec(url) ?? scpLike.exec(url) ?? [];
  if (host === undefined || path === undefined) return undefined;
  const [, owner, name] = repositoryPattern.exec(path.replace(/\/+$/, '').replace(/\.git$/, '')) ?? [];
  return owner === undefined || name === undefined ? undefined : { host: host.toLowerCase(), owner, name };
};
