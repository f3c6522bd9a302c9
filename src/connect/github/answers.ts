// What is read of GitHub's answers (REST, version 2022-11-28). Fields that are not named here are not looked at.
import { z } from 'zod';
import type { Issue, Note, PullRequest } from '../port.ts';

const login = z.object({ login: z.string() });
/** An issue may belong to a deleted account, and a label may be given by its name alone. */
const issueEntry = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']),
  html_url: z.string(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
  assignees: z.array(login).nullish(),
  /** There, and not null, exactly on pull requests: the list of issues holds both. */
  pull_request: z.unknown().optional(),
});

export const issueEntries = z.array(issueEntry);
export const oneIssue = issueEntry;

export const isPullRequest = (entry: z.infer<typeof issueEntry>): boolean =>
  entry.pull_request !== undefined && entry.pull_request !== null;

export const issueOf = (entry: z.infer<typeof issueEntry>): Issue => ({
  number: entry.number,
  title: entry.title,
  body: entry.body ?? '',
  state: entry.state,
  url: entry.html_url,
  labels: entry.labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
  assignees: (entry.assignees ?? []).map((one) => one.login),
});

export const oneComment = z.object({
  id: z.int().positive(),
  html_url: z.string(),
  body: z.string().nullish(),
  user: z.object({ login: z.string(), type: z.string().nullish() }).nullish(),
});
export const comments = z.array(oneComment);
export type Comment = z.infer<typeof oneComment>;

export const noteOf = (comment: Comment): Note => ({ id: comment.id, url: comment.html_url, text: comment.body ?? '' });

export const onePull = z.object({
  number: z.int().positive(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  body: z.string().nullish(),
  head: z.object({ sha: z.string() }),
});
export const pulls = z.array(onePull);

export const pullOf = (pull: z.infer<typeof onePull>): PullRequest => ({
  number: pull.number,
  url: pull.html_url,
  state: pull.merged_at !== undefined && pull.merged_at !== null ? 'merged' : pull.state,
  head: pull.head.sha,
  body: pull.body ?? '',
});

export const repositoryAnswer = z.object({ default_branch: z.string().min(1) });
export const userAnswer = z.object({ login: z.string() });
/** Of a refusal: what it says, and what of the request it means. */
export const refusal = z.object({
  message: z.string(),
  errors: z
    .array(z.union([z.string(), z.object({ message: z.string().nullish(), field: z.string().nullish(), code: z.string().nullish() })]))
    .nullish(),
});
