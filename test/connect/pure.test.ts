import { expect, test } from 'vitest';
import { epochMs } from '../../src/core/ids.ts';
import { githubAddress, issueClaim, issueOfTask, issueTaskKey, noteMark, noteText } from '../../src/connect/index.ts';
import { nextLink } from '../../src/connect/github/link-header.ts';
import { limitedUntil } from '../../src/connect/github/rate-limit.ts';
import { remotePlace } from '../../src/connect/github/remote-url.ts';

test.each([
  ['<https://h/x?page=2>; rel="next", <https://h/x?page=9>; rel="last"', 'https://h/x?page=2'],
  ['<https://h/x?page=1>; rel="prev first", <https://h/x?page=3>; foo=1; rel="a next"', 'https://h/x?page=3'],
  ['<https://h/x?page=2>; rel=next', 'https://h/x?page=2'],
  ['<https://h/x?a=b,c;d&page=2>; rel="next"', 'https://h/x?a=b,c;d&page=2'],
  ['<https://h/x?page=1>; rel="prev", <https://h/x?page=1>; rel="first"', undefined],
  ['', undefined],
  [null, undefined],
])('CON-01 the next page named by the header %s is %s', (header, next) => {
  expect(nextLink(header)).toBe(next);
});

test.each([
  ['https://github.com/acme/seed.git', 'github.com acme/seed'],
  ['https://user:pass@github.com/acme/seed', 'github.com acme/seed'],
  ['ssh://git@ssh.github.com:443/acme/seed.git', 'ssh.github.com acme/seed'],
  ['git@GitHub.com:acme/seed.js.git', 'github.com acme/seed.js'],
  ['/tmp/remote.git', undefined],
  ['../remote.git', undefined],
  ['file:///tmp/a/b.git', undefined],
  ['https://github.com/acme/seed/tree', undefined],
])('CON-02 the remote %s is %s', (url, wanted) => {
  const place = remotePlace(url);
  expect(place === undefined ? undefined : `${place.host} ${place.owner}/${place.name}`).toBe(wanted);
});

const now = epochMs(1_700_000_000_000);
const limit = (status: number, headers: Readonly<Record<string, string>>, message = ''): number | undefined =>
  limitedUntil({ status, header: (name) => headers[name] ?? null, message }, now);

test('CON-03 a refusal for too many requests says when it ends; other refusals are none', () => {
  expect(limit(429, { 'retry-after': '30' })).toBe(now + 30_000);
  expect(limit(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1700000090' })).toBe(now + 90_000);
  expect(limit(403, { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '1700000090' })).toBeUndefined();
  expect(limit(403, {}, 'You have exceeded a secondary rate limit.')).toBe(now + 60_000);
  expect(limit(429, {})).toBe(now + 60_000);
  expect(limit(429, { 'retry-after': '999999999999' })).toBe(now + 24 * 3_600_000);
  expect(limit(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' })).toBe(now + 1_000);
  expect(limit(404, { 'retry-after': '30' })).toBeUndefined();
});

const none = { api: undefined, repository: undefined };
const env = { GITHUB_TOKEN: 'secret' };
const facts = (part: Partial<Parameters<typeof githubAddress>[0]>) =>
  githubAddress({ settings: none, origin: 'git@github.com:acme/seed.git', env, ...part });

test('CON-04 the address comes from gyre.yaml, then the environment, then origin', () => {
  expect(facts({})).toEqual({ api: 'https://api.github.com', owner: 'acme', name: 'seed', headOwner: 'acme', token: 'secret' });
  expect(facts({ origin: 'https://git.acme.invalid/acme/seed' })).toMatchObject({ api: 'https://git.acme.invalid/api/v3' });
  expect(facts({ env: { GH_TOKEN: 'other', GITHUB_API_URL: 'http://127.0.0.1:99/' } })).toMatchObject({
    api: 'http://127.0.0.1:99',
    token: 'other',
  });
  const settings = { api: 'https://one.invalid/api/', repository: 'up/stream' };
  expect(facts({ settings, env: { ...env, GITHUB_API_URL: 'https://two.invalid' } })).toMatchObject({
    api: 'https://one.invalid/api',
    owner: 'up',
    name: 'stream',
    headOwner: 'acme',
  });
});

test.each([
  ['no remote', { origin: undefined }, /no remote named origin/],
  ['a remote that is a folder', { origin: '/tmp/x.git' }, /does not name a repository/],
  ['no token', { env: {} }, /no token/],
  ['an empty token', { env: { GITHUB_TOKEN: '' } }, /no token/],
  ['a token over plain http', { settings: { ...none, api: 'http://git.acme.invalid' } }, /not an address a token may be sent to/],
  ['an address that is none', { settings: { ...none, api: 'api' } }, /not an address/],
])('CON-05 what is missing is named: %s', (_fact, part, problem) => {
  expect(facts(part)).toMatchObject({ problem: expect.stringMatching(problem) as string, hint: expect.stringMatching(/./) as string });
});

test('CON-06 an issue has one key and one claim in every clone, and the key leads back to it', () => {
  const name = { repository: 'Acme/Seed.js', number: 12 };
  expect(issueTaskKey(name)).toBe('issue:acme/seed.js#12');
  expect(issueClaim(name)).toBe('github:acme/seed.js#12');
  expect(issueOfTask('issue:acme/seed.js#12')).toEqual({ repository: 'acme/seed.js', number: 12 });
  for (const key of ['issue:acme#12', 'issue:acme/seed#0', 'issue:acme/seed#1x', 'test:acme/seed#1'])
    expect(issueOfTask(key)).toBeUndefined();
});

test('CON-07 a status note begins with the mark of its task, and nothing in it mentions or formats', () => {
  const note = { task: 'issue:acme/seed#1', loop: 'fix`', run: 'r1', state: 'parked: `@all` see\n```\n# heading <img>' };
  const text = noteText(note);
  expect(text.startsWith(noteMark(note.task))).toBe(true);
  expect(text.split('\n')[1]).toBe('**Gyre** (loop `fix`, run `r1`): parked: all see  # heading img>');
  expect(noteText(note)).toBe(text);
});
