import type { Forge, ForgeAddress, ForgeTime } from '../port.ts';
import { createClient, type ClientLimits } from './client.ts';
import { issuesOf } from './issues.ts';
import { notesOf } from './notes.ts';
import { pullRequestsOf } from './pull-requests.ts';

/** A repository on GitHub or a server with its REST interface. Asks nothing until it is used. */
export const createGithub = (address: ForgeAddress, time: ForgeTime, limits: Partial<ClientLimits> = {}): Forge => {
  const client = createClient(address, time, limits);
  return { issues: issuesOf(client), notes: notesOf(client, time.pause), pullRequests: pullRequestsOf(client) };
};
