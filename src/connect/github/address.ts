import type { ForgeAddress } from '../port.ts';
import { remotePlace, repositoryPattern } from './remote-url.ts';

export interface AddressFacts {
  /** What gyre.yaml says under `connect.github`. */
  readonly settings: { readonly api: string | undefined; readonly repository: string | undefined };
  /** Address of the remote `origin`; `undefined` where there is none. */
  readonly origin: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What is missing, as the end of "needs GitHub, and ...", and what to do. */
export interface AddressProblem {
  readonly problem: string;
  readonly hint: string;
}

const publicHost = 'github.com';
const publicApi = 'https://api.github.com';

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** Enterprise servers serve the interface below their own host (`https://HOST/api/v3`). */
const apiOfHost = (host: string | undefined): string =>
  host === undefined || host === publicHost || host === `ssh.${publicHost}` ? publicApi : `https://${host}/api/v3`;

/**
 * Where the repository is on GitHub, from gyre.yaml, the environment and the remote, in this order. Pure. The token is
 * `GITHUB_TOKEN` or `GH_TOKEN`, and goes only over https or within this machine.
 */
export const githubAddress = ({ settings, origin, env }: AddressFacts): ForgeAddress | AddressProblem => {
  if (origin === undefined)
    return { problem: 'this repository has no remote named origin', hint: 'Add it: git remote add origin <address>' };
  const place = remotePlace(origin);
  const [, owner = place?.owner, name = place?.name] = repositoryPattern.exec(settings.repository ?? '') ?? [];
  if (owner === undefined || name === undefined)
    return {
      problem: 'the address of origin does not name a repository there',
      hint: 'Name it in gyre.yaml: connect: { github: { repository: owner/name } }',
    };
  const api = (settings.api ?? (env['GITHUB_API_URL'] || apiOfHost(place?.host))).replace(/\/+$/, '');
  const url = URL.canParse(api) ? new URL(api) : undefined;
  if (url === undefined || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))))
    return {
      problem: `${JSON.stringify(api)} is not an address a token may be sent to`,
      hint: 'Give an https address: connect: { github: { api: https://... } } in gyre.yaml, or GITHUB_API_URL.',
    };
  const token = env['GITHUB_TOKEN'] || env['GH_TOKEN'];
  if (token === undefined || token === '')
    return { problem: 'there is no token', hint: 'Set GITHUB_TOKEN or GH_TOKEN to one that may read issues and write pull requests.' };
  return { api, owner, name, headOwner: place?.owner ?? owner, token };
};
