import type { PullRequests } from '../port.ts';
import { onePull, pullOf, pulls, repositoryAnswer } from './answers.ts';
import { perPage, type Client } from './client.ts';

export const pullRequestsOf = (client: Client): PullRequests => {
  const { owner, name, headOwner } = client.address;
  const repository = `${owner}/${name}`;
  return {
    repository,
    ofBranch: async (branch) => {
      const query = new URLSearchParams({ state: 'all', head: `${headOwner}:${branch}`, per_page: String(perPage) });
      return (await client.read(`/repos/${repository}/pulls?${query.toString()}`, pulls)).map(pullOf);
    },
    get: async (number) => pullOf(await client.read(`/repos/${repository}/pulls/${number}`, onePull)),
    open: async ({ branch, target, title, body }) => {
      const head = headOwner === owner ? branch : `${headOwner}:${branch}`;
      return pullOf(
        await client.write({ method: 'POST', path: `/repos/${repository}/pulls`, body: { head, base: target, title, body } }, onePull),
      );
    },
    defaultBranch: async () => (await client.read(`/repos/${repository}`, repositoryAnswer)).default_branch,
  };
};
