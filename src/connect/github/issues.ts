import { Fault } from '../../core/fault.ts';
import type { Issue, IssueTracker } from '../port.ts';
import { isPullRequest, issueEntries, issueOf, oneIssue } from './answers.ts';
import { perPage, type Client } from './client.ts';

export const issuesOf = (client: Client): IssueTracker => {
  const repository = `${client.address.owner}/${client.address.name}`;
  return {
    repository,
    openIssues: async ({ labels, assignee }) => {
      const query = new URLSearchParams({ state: 'open', sort: 'created', direction: 'asc', per_page: String(perPage) });
      if (labels.length > 0) query.set('labels', labels.join(','));
      if (assignee !== undefined) query.set('assignee', assignee);
      // By number: an issue that moves to another page while pages are read is seen once.
      const issues = new Map<number, Issue>();
      let seen = 0;
      const { capped } = await client.readPages(`/repos/${repository}/issues?${query.toString()}`, issueEntries, (entries) => {
        seen += entries.length;
        for (const entry of entries) if (!isPullRequest(entry) && entry.state === 'open') issues.set(entry.number, issueOf(entry));
        return 'more';
      });
      const problems = capped
        ? [`only the oldest ${seen} entries were read, and there are more. Narrow the source with labels, or close what is done.`]
        : [];
      return { issues: [...issues.values()], problems };
    },
    issue: async (number) => {
      try {
        const entry = await client.read(`/repos/${repository}/issues/${number}`, oneIssue);
        // A moved issue redirects to its new place, where it has another number.
        return entry.number === number ? issueOf(entry) : undefined;
      } catch (error) {
        if (error instanceof Fault && error.data['status'] === 410) return undefined;
        throw error;
      }
    },
  };
};
