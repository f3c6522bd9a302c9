import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { epochMs } from '../../src/core/ids.ts';
import { Fault } from '../../src/core/fault.ts';
import { createGithub, noteMark, type Forge } from '../../src/connect/index.ts';
import { ftLogin, ftToken, startFt, type Ft } from '../testkit/ft.ts';

const pauses: number[] = [];
const time = { now: () => epochMs(Date.now()), pause: (ms: number) => Promise.resolve(void pauses.push(ms)) };
const forgeAt = (url: string, limits: Parameters<typeof createGithub>[2] = {}, token = ftToken): Forge =>
  createGithub({ api: url, owner: 'acme', name: 'seed', headOwner: 'acme', token }, time, limits);
const forgeOf = (ft: Ft, limits: Parameters<typeof createGithub>[2] = {}): Forge => forgeAt(ft.url, limits);

const faultOf = async (call: Promise<unknown>): Promise<Fault> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`no fault but ${String(error)}`);
  return error;
};

const everyone = { labels: [], assignee: undefined };

test('DSP-03 issues of all pages are read, oldest first, and no pull request counts as one', async () => {
  await using ft = await startFt();
  for (let n = 1; n <= 130; n += 1) ft.addIssue({ title: `entry ${n}`, isPull: n % 3 === 0 && n <= 120 });
  const { issues, problems } = await forgeOf(ft).issues.openIssues(everyone);
  expect(problems).toEqual([]);
  expect(issues).toHaveLength(90);
  expect(issues.map(({ number }) => number)).toEqual(issues.map(({ number }) => number).toSorted((a, b) => a - b));
  expect(ft.count('GET /issues')).toBe(5);
  expect(ft.writes()).toBe(0);
});

test('DSP-03 what a bound leaves out is a problem with its number', async () => {
  await using ft = await startFt();
  for (let n = 1; n <= 100; n += 1) ft.addIssue({ title: `entry ${n}` });
  const { issues, problems } = await forgeOf(ft, { pagesMax: 2 }).issues.openIssues(everyone);
  expect(issues).toHaveLength(60);
  expect(problems).toEqual([expect.stringContaining('only the oldest 60 entries were read')]);
});

test('CON-08 labels and assignee narrow the list where it is made', async () => {
  await using ft = await startFt();
  ft.addIssue({ title: 'a', labels: ['agent', 'bug'], assignees: ['sam'] });
  ft.addIssue({ title: 'b', labels: ['agent'] });
  ft.addIssue({ title: 'c', labels: ['agent', 'bug'] });
  const titles = async (labels: readonly string[], assignee?: string): Promise<string> =>
    (await forgeOf(ft).issues.openIssues({ labels, assignee })).issues.map(({ title }) => title).join('');
  expect(await titles(['agent'])).toBe('abc');
  expect(await titles(['agent', 'bug'])).toBe('ac');
  expect(await titles(['agent'], 'sam')).toBe('a');
  expect(await titles([], 'none')).toBe('bc');
});

test('CON-09 reads are tried again a bounded number of times, writes never by themselves', async () => {
  await using ft = await startFt();
  ft.addIssue({ title: 'a' });
  ft.trouble({ method: 'GET', path: /^\/issues$/, times: 2, does: { answer: 502 } });
  pauses.length = 0;
  expect((await forgeOf(ft).issues.openIssues(everyone)).issues).toHaveLength(1);
  expect(pauses).toEqual([300, 900]);
  ft.trouble({ method: 'GET', path: /^\/issues$/, times: 9, does: { answer: 500 } });
  expect(await faultOf(forgeOf(ft).issues.openIssues(everyone))).toMatchObject({ code: 'FORGE_FAILED', data: { status: 500 } });
  expect(ft.count('GET /issues')).toBe(6);
  ft.trouble({ method: 'POST', path: /^\/pulls$/, times: 9, does: { answer: 500 } });
  await faultOf(forgeOf(ft).pullRequests.open({ branch: 'b', target: 'main', title: 't', body: '' }));
  expect(ft.count('POST /pulls')).toBe(1);
});

test('CON-10 too many requests is a fault with the time of the reset, and is not tried again', async () => {
  await using ft = await startFt();
  const reset = Math.floor(Date.now() / 1_000) + 600;
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
  ft.trouble({ method: 'GET', path: /^\/issues$/, times: 1, does: { answer: 403, headers } });
  const fault = await faultOf(forgeOf(ft).issues.openIssues(everyone));
  expect(fault).toMatchObject({ code: 'FORGE_LIMITED', data: { resetAt: reset * 1_000 } });
  expect(fault.message).toContain(new Date(reset * 1_000).toISOString());
  expect(ft.count('GET /issues')).toBe(1);
});

test('CON-11 the token is in no message and no data of a fault, also where the service repeats it', async () => {
  await using ft = await startFt();
  const fault = await faultOf(forgeAt(ft.url, {}, 'a-wrong-token').issues.openIssues(everyone));
  expect(fault).toMatchObject({ code: 'FORGE_REFUSED', data: { status: 401 }, hint: expect.stringContaining('GITHUB_TOKEN') as string });
  expect(`${fault.message}${JSON.stringify(fault.data)}${String(fault.cause)}${fault.hint}`).not.toContain('a-wrong-token');
  expect(fault.message).toContain('Bearer (token)');
});

test('CON-12 a service that is not there, is late, says too much or something else is named as such', async () => {
  await using ft = await startFt();
  expect(await faultOf(forgeAt('http://127.0.0.1:1').issues.issue(1))).toMatchObject({ code: 'FORGE_UNREACHABLE' });
  ft.addIssue({ title: 'a', body: 'x'.repeat(5_000) });
  expect(await faultOf(forgeOf(ft, { answerBytes: 4_000 }).issues.openIssues(everyone))).toMatchObject({ code: 'FORGE_ANSWER' });
  ft.delayMs = [400, 500];
  const late = await faultOf(forgeOf(ft, { requestMs: 100 }).issues.issue(1));
  expect(late.message).toContain('did not answer within 0.1 s');
  ft.delayMs = [0, 0];
  ft.trouble({ method: 'GET', path: /^\/issues\/1$/, times: 1, does: { answer: 200, body: { hello: 1 } } });
  expect((await faultOf(forgeOf(ft).issues.issue(1))).message).toMatch(/not what is documented, at number/);
});

test('CON-13 a next page on another host is not asked for, so the token stays where it belongs', async () => {
  let asked = 0;
  const other = createServer((_, response) => {
    asked += 1;
    response.end('[]');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await using ft = await startFt();
  const headers = { link: `<http://localhost:${port}/next>; rel="next"` };
  ft.trouble({ method: 'GET', path: /^\/issues$/, times: 1, does: { answer: 200, body: [], headers } });
  expect(await faultOf(forgeOf(ft).issues.openIssues(everyone))).toMatchObject({ code: 'FORGE_ANSWER' });
  expect(asked).toBe(0);
  other.close();
});

test('CON-14 an issue that is gone is none; one the token may not see is a fault', async () => {
  await using ft = await startFt();
  const { number } = ft.addIssue({ title: 'a', state: 'closed' });
  expect(await forgeOf(ft).issues.issue(number)).toMatchObject({ state: 'closed' });
  ft.trouble({ method: 'GET', path: /^\/issues\/1$/, times: 1, does: { answer: 410 } });
  expect(await forgeOf(ft).issues.issue(number)).toBeUndefined();
  expect(await faultOf(forgeOf(ft).issues.issue(77))).toMatchObject({ code: 'FORGE_REFUSED', data: { status: 404 } });
});

const mark = noteMark('issue:acme/seed#1');

test('JRN-07 a note is found behind pages of other comments and edited, never repeated', async () => {
  await using ft = await startFt();
  const { number } = ft.addIssue({ title: 'a' });
  for (let n = 0; n < 70; n += 1) ft.addComment(number, `talk ${n} ${mark}`, 'somebody');
  const { notes } = forgeOf(ft);
  const made = await notes.putNote(number, { mark, text: `${mark}\none` });
  expect(await notes.putNote(number, { mark, text: `${mark}\none` })).toEqual(made);
  expect(await notes.putNote(number, { mark, text: `${mark}\ntwo` })).toMatchObject({ id: made.id });
  expect(ft.comments.get(made.id)?.body).toBe(`${mark}\ntwo`);
  expect(ft.comments.size).toBe(71);
  expect([ft.count('POST /issues/n/comments'), ft.count('PATCH /issues/comments/n')]).toEqual([1, 1]);
});

test('JRN-07 a note whose answer was lost is looked for and not made again', async () => {
  await using ft = await startFt();
  const { number } = ft.addIssue({ title: 'a' });
  ft.trouble({ method: 'POST', path: /comments$/, times: 1, does: { loses: 'answer' } });
  await forgeOf(ft).notes.putNote(number, { mark, text: `${mark}\none` });
  expect([...ft.comments.values()].map(({ body }) => body)).toEqual([`${mark}\none`]);
  expect(ft.count('POST /issues/n/comments')).toBe(1);
});

test('L12 a mark that somebody else wrote is not taken for the own note', async () => {
  await using ft = await startFt();
  const { number } = ft.addIssue({ title: 'a' });
  const forged = ft.addComment(number, `${mark}\nforged`, 'mallory');
  const made = await forgeOf(ft).notes.putNote(number, { mark, text: `${mark}\none` });
  expect(made.id).not.toBe(forged.id);
  expect(ft.comments.get(forged.id)?.body).toBe(`${mark}\nforged`);
  expect(ft.comments.get(made.id)?.login).toBe(ftLogin);
});

test('JRN-07 with more comments than are read, no second note is made on a guess', async () => {
  await using ft = await startFt();
  const { number } = ft.addIssue({ title: 'a' });
  for (let n = 0; n < 70; n += 1) ft.addComment(number, `talk ${n}`);
  const fault = await faultOf(forgeOf(ft, { pagesMax: 2 }).notes.putNote(number, { mark, text: `${mark}\none` }));
  expect(fault.message).toContain('more comments than are read');
  expect(ft.writes()).toBe(0);
});
