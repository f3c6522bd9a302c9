// The stub FT of the field reports: issues, comments and pull requests of one repository, over HTTP on the loopback, as GitHub's REST
// interface gives them. It counts every read and write, and can be told to be late, to fail, to lose an answer or to kill its caller.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export const ftToken = 'ft-token-that-nobody-may-print';

export interface FtIssue {
  readonly number: number;
  title: string;
  body: string;
  state: 'open' | 'closed';
  labels: string[];
  assignees: string[];
  /** True for the issue that every pull request also is. */
  readonly isPull: boolean;
}

export interface FtComment {
  readonly id: number;
  readonly issue: number;
  readonly login: string;
  body: string;
}

export interface FtPull {
  readonly number: number;
  readonly branch: string;
  readonly target: string;
  readonly title: string;
  readonly body: string;
  readonly sha: string;
  state: 'open' | 'closed';
  mergedAt: string | null;
}

/** What happens instead of an answer, to the requests that match, so many times. */
export interface FtTrouble {
  readonly method: string;
  /** Matched against the path below the repository, e.g. `/pulls`. */
  readonly path: RegExp;
  readonly times: number;
  readonly does:
    | { readonly answer: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
    /** The write is done and its answer never comes. */
    | { readonly loses: 'answer' }
    /** The write is done, then this process is killed, then the connection is cut. */
    | { readonly kills: () => number };
}

export interface Ft extends AsyncDisposable {
  /** Base address, for GITHUB_API_URL. */
  readonly url: string;
  readonly issues: Map<number, FtIssue>;
  readonly comments: Map<number, FtComment>;
  readonly pulls: Map<number, FtPull>;
  /** Requests by route, e.g. `GET /issues` or `POST /pulls`, failed ones too. */
  readonly counts: Map<string, number>;
  perPage: number;
  /** Each answer waits so long, drawn between the two. */
  delayMs: readonly [number, number];
  addIssue(issue: Partial<Omit<FtIssue, 'number'>> & { readonly title: string }): FtIssue;
  addComment(issue: number, body: string, login?: string): FtComment;
  trouble(trouble: FtTrouble): void;
  count(route: string): number;
  /** All requests but GET. */
  writes(): number;
}

export const ftLogin = 'gyre-user';

/** @param options.remote bare repository whose branches pull requests are made of */
export const startFt = async (options: { readonly repository?: string; readonly remote?: string } = {}): Promise<Ft> => {
  const repository = options.repository ?? 'acme/seed';
  const prefix = `/repos/${repository}`;
  const issues = new Map<number, FtIssue>();
  const comments = new Map<number, FtComment>();
  const pulls = new Map<number, FtPull>();
  const counts = new Map<string, number>();
  const troubles: { left: number; readonly trouble: FtTrouble }[] = [];
  let lastNumber = 0;
  let lastComment = 900;

  const ft: Ft = {
    url: '',
    issues,
    comments,
    pulls,
    counts,
    perPage: 30,
    delayMs: [0, 0],
    addIssue: (issue) => {
      lastNumber += 1;
      const made = { body: '', state: 'open' as const, labels: [], assignees: [], isPull: false, ...issue, number: lastNumber };
      issues.set(made.number, made);
      return made;
    },
    addComment: (issue, body, login = ftLogin) => {
      lastComment += 1;
      const made = { id: lastComment, issue, login, body };
      comments.set(made.id, made);
      return made;
    },
    trouble: (trouble) => void troubles.push({ left: trouble.times, trouble }),
    count: (route) => counts.get(route) ?? 0,
    writes: () => [...counts].filter(([route]) => !route.startsWith('GET ')).reduce((sum, [, count]) => sum + count, 0),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  const tipOf = (branch: string): string | undefined => {
    if (options.remote === undefined) return 'f'.repeat(40);
    try {
      const args = ['rev-parse', '--verify', '-q', `refs/heads/${branch}`];
      return execFileSync('git', args, { cwd: options.remote, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return undefined;
    }
  };

  const web = (kind: string, number: number): string => `https://forge.invalid/${repository}/${kind}/${number}`;
  const issueJson = (issue: FtIssue): unknown => ({
    number: issue.number,
    title: issue.title,
    body: issue.body === '' ? null : issue.body,
    state: issue.state,
    html_url: web('issues', issue.number),
    labels: issue.labels.map((name) => ({ name })),
    assignees: issue.assignees.map((login) => ({ login })),
    ...(issue.isPull ? { pull_request: { url: 'x' } } : {}),
  });
  const commentJson = (comment: FtComment): unknown => ({
    id: comment.id,
    html_url: `${web('issues', comment.issue)}#${comment.id}`,
    body: comment.body,
    user: { login: comment.login, type: 'User' },
  });
  const pullJson = (pull: FtPull): unknown => ({
    number: pull.number,
    html_url: web('pull', pull.number),
    state: pull.state,
    merged_at: pull.mergedAt,
    body: pull.body,
    head: { sha: tipOf(pull.branch) ?? pull.sha },
  });

  interface Reply {
    readonly status: number;
    readonly body: unknown;
    readonly headers?: Record<string, string>;
  }
  const ok = (body: unknown, status = 200): Reply => ({ status, body });
  const refused = (status: number, message: string): Reply => ({ status, body: { message } });

  const paged = (url: URL, all: readonly unknown[]): Reply => {
    const page = Number(url.searchParams.get('page') ?? '1');
    const size = Math.min(ft.perPage, Number(url.searchParams.get('per_page') ?? '30'));
    const next = new URL(url);
    next.searchParams.set('page', String(page + 1));
    const more = page * size < all.length;
    return {
      status: 200,
      body: all.slice((page - 1) * size, page * size),
      headers: more ? { link: `<${next.href}>; rel="next", <${next.href}>; rel="last"` } : {},
    };
  };

  const listIssues = (url: URL): Reply => {
    const wanted = (url.searchParams.get('labels') ?? '').split(',').filter((label) => label !== '');
    const assignee = url.searchParams.get('assignee');
    const found = [...issues.values()].filter(
      (issue) =>
        issue.state === 'open' &&
        wanted.every((label) => issue.labels.includes(label)) &&
        (assignee === null ||
          (assignee === 'none' ? issue.assignees.length === 0 : assignee === '*' || issue.assignees.includes(assignee))),
    );
    const oldestFirst = url.searchParams.get('direction') === 'asc';
    return paged(url, (oldestFirst ? found : found.toReversed()).map(issueJson));
  };

  const openPull = (wanted: Readonly<Record<string, string>>): Reply => {
    const branch = wanted['head'] ?? '';
    const sha = tipOf(branch);
    if (sha === undefined) return { status: 422, body: { message: 'Validation Failed', errors: [{ field: 'head', code: 'invalid' }] } };
    if ([...pulls.values()].some((pull) => pull.branch === branch && pull.state === 'open'))
      return { status: 422, body: { message: 'Validation Failed', errors: [{ message: `A pull request already exists for ${branch}.` }] } };
    const { number } = ft.addIssue({ title: wanted['title'] ?? '', isPull: true });
    const { title = '', body = '', base: target = '' } = wanted;
    const pull: FtPull = { number, branch, target, title, body, sha, state: 'open', mergedAt: null };
    pulls.set(number, pull);
    return ok(pullJson(pull), 201);
  };

  const route = (method: string, url: URL, body: Readonly<Record<string, string>>): Reply => {
    if (url.pathname === '/user') return ok({ login: ftLogin });
    const path = url.pathname.slice(prefix.length);
    const number = Number(/\/(\d+)(?:\/|$)/.exec(path)?.[1]);
    switch (`${method} ${routeOf(path)}`) {
      case 'GET /':
        return ok({ default_branch: 'main' });
      case 'GET /issues':
        return listIssues(url);
      case 'GET /issues/n': {
        const issue = issues.get(number);
        return issue === undefined ? refused(404, 'Not Found') : ok(issueJson(issue));
      }
      case 'GET /issues/n/comments':
        return paged(url, [...comments.values()].filter((comment) => comment.issue === number).map(commentJson));
      case 'POST /issues/n/comments':
        return ok(commentJson(ft.addComment(number, body['body'] ?? '')), 201);
      case 'PATCH /issues/comments/n': {
        const comment = comments.get(number);
        if (comment === undefined) return refused(404, 'Not Found');
        comment.body = body['body'] ?? '';
        return ok(commentJson(comment));
      }
      case 'GET /pulls': {
        const head = url.searchParams.get('head')?.split(':')[1];
        return paged(
          url,
          [...pulls.values()]
            .filter((pull) => pull.branch === head)
            .toReversed()
            .map(pullJson),
        );
      }
      case 'POST /pulls':
        return openPull(body);
      case 'GET /pulls/n': {
        const pull = pulls.get(number);
        return pull === undefined ? refused(404, 'Not Found') : ok(pullJson(pull));
      }
      default:
        return refused(404, `no route ${method} ${path}`);
    }
  };

  const send = (response: ServerResponse, { status, body, headers }: Reply): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const url = new URL(request.url ?? '/', ft.url);
    const method = request.method ?? '';
    const path = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : url.pathname;
    const key = `${method} ${routeOf(path)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const [least, most] = ft.delayMs;
    if (most > 0) await delay(least + Math.random() * (most - least));
    if (request.headers.authorization !== `Bearer ${ftToken}`) {
      send(response, refused(401, `Bad credentials: ${request.headers.authorization}`));
      return;
    }
    const found = troubles.find(({ left, trouble }) => left > 0 && trouble.method === method && trouble.path.test(path));
    const perform = (): Reply => route(method, url, text === '' ? {} : (JSON.parse(text) as Record<string, string>));
    if (found === undefined) {
      send(response, perform());
      return;
    }
    found.left -= 1;
    const { does } = found.trouble;
    if ('answer' in does) {
      send(response, { status: does.answer, body: does.body ?? { message: 'trouble' }, headers: { ...does.headers } });
      return;
    }
    perform();
    if ('kills' in does) process.kill(does.kills(), 'SIGKILL');
    response.destroy();
  };

  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  Object.assign(ft, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  return ft;
};

/** `/issues/12/comments` -> `/issues/n/comments`. */
const routeOf = (path: string): string => (path === '' ? '/' : path.replace(/\/\d+(?=\/|$)/g, '/n'));
