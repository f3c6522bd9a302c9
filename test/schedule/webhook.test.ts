import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { triggerId, type EventTrigger } from '../../src/core/trigger.ts';
import { loopOf, World } from './world.ts';

const secret = 'a shared secret';
const hook = (sender: 'github' | 'generic', event?: string, action?: string): EventTrigger => ({
  on: 'webhook',
  id: triggerId('webhook', [sender, event, action]),
  overlap: 'allow',
  sender,
  event,
  action,
  secretVariable: 'HOOK',
});
const loops = [loopOf('ci', hook('github', 'check_run', 'completed')), loopOf('deploy', hook('generic', 'done')), loopOf('quiet')];

let world: World;
let base: string;
beforeEach(async () => {
  world = new World('2026-01-01T00:00:00Z');
  const { address } = await world.start(loops, { env: { HOOK: secret } });
  base = `http://127.0.0.1:${address?.port}/hooks`;
});
afterEach(async () => {
  await world.scheduler?.stop();
});

const sign = (text: string): string => `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
const github = (body: string, { delivery = 'd-1', event = 'check_run', signature = sign(body) } = {}) =>
  fetch(`${base}/ci`, {
    method: 'POST',
    body,
    headers: { 'x-github-delivery': delivery, 'x-github-event': event, 'x-hub-signature-256': signature },
  });
const generic = (
  body: string,
  { delivery = 'g-1', event = 'done', seconds = world.now / 1000, as = undefined as string | undefined } = {},
) =>
  fetch(`${base}/deploy`, {
    method: 'POST',
    body,
    headers: {
      'x-gyre-delivery': delivery,
      'x-gyre-event': as ?? event,
      'x-gyre-timestamp': String(seconds),
      'x-gyre-signature': sign(`${seconds}.${delivery}.${event}.${body}`),
    },
  });
const settle = () => world.scheduler?.look();
const completed = '{"action":"completed"}';

test('L11 a signed delivery is one tick, named by its delivery id', async () => {
  expect((await github(completed)).status).toBe(202);
  await settle();
  expect(world.started.map(({ window }) => [window.id, window.cause])).toEqual([
    [`ci/${hook('github', 'check_run', 'completed').id}/d-1`, { event: 'check_run', delivery: 'd-1', action: 'completed' }],
  ]);
});

test('P2 the same delivery again is answered 409 and starts nothing, also after a restart', async () => {
  await github(completed);
  expect((await github(completed)).status).toBe(409);
  await world.scheduler?.stop();
  world.die();
  const { address } = await world.start(loops, { env: { HOOK: secret } });
  base = `http://127.0.0.1:${address?.port}/hooks`;
  expect((await github(completed)).status).toBe(409);
  await settle();
  expect(world.started).toHaveLength(1);
});

test('SCD-20 the same signed body under another delivery id is a replay', async () => {
  await github(completed);
  expect((await github(completed, { delivery: 'd-2' })).status).toBe(409);
});

test('SCD-20 ten at once of one delivery are one tick', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => github(completed)));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([202, ...Array.from({ length: 9 }, () => 409)]);
  await settle();
  expect(world.started).toHaveLength(1);
});

test('SCD-21 a wrong, missing or misshapen signature is 401', async () => {
  expect((await github(completed, { signature: sign('other') })).status).toBe(401);
  expect((await github(completed, { signature: '' })).status).toBe(401);
  expect((await github(completed, { signature: 'sha256=abc' })).status).toBe(401);
  expect((await fetch(`${base}/ci`, { method: 'POST', body: completed })).status).toBe(401);
  await settle();
  expect(world.started).toEqual([]);
});

test('SCD-22 an event that nobody waits for is taken note of and starts nothing', async () => {
  const answer = await github('{"action":"created"}');
  expect([answer.status, await answer.json()]).toEqual([202, { accepted: false, why: 'The loop does not wait for check_run.created' }]);
  expect((await github('{}', { event: 'ping', delivery: 'd-3' })).status).toBe(202);
  await settle();
  expect(world.started).toEqual([]);
});

test('SCD-23 a generic sender signs time, delivery, event and body', async () => {
  expect((await generic('{}')).status).toBe(202);
  expect((await generic('{}')).status).toBe(409);
  expect((await generic('{}', { delivery: 'g-2', as: 'other' })).status).toBe(401);
  await settle();
  expect(world.started).toHaveLength(1);
});

test('SCD-23 a signature older or newer than five minutes is 401', async () => {
  const seconds = world.now / 1000;
  expect((await generic('{}', { seconds: seconds - 301 })).status).toBe(401);
  expect((await generic('{}', { seconds: seconds + 301 })).status).toBe(401);
  expect((await generic('{}', { seconds: seconds - 299 })).status).toBe(202);
});

test('SCD-24 unknown loops, loops without a webhook and other paths are 404', async () => {
  for (const path of ['/hooks/none', '/hooks/quiet', '/', '/hooks'])
    expect((await fetch(base.replace('/hooks', path), { method: 'POST', body: '{}' })).status).toBe(404);
  expect((await fetch(`${base}/ci`)).status).toBe(404);
});

test('SCD-25 a body above one mebibyte is 413', async () => {
  expect((await github('x'.repeat(1024 * 1024 + 1))).status).toBe(413);
  expect((await github(JSON.stringify({ action: 'completed', pad: 'x'.repeat(1024 * 1024 - 100) }))).status).toBe(202);
});

test('SCD-26 a port that is taken is one sentence', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  const { port } = other.address() as { readonly port: number };
  const second = new World('2026-01-01T00:00:00Z');
  await expect(second.start(loops, { env: { HOOK: secret }, server: { host: '127.0.0.1', port } })).rejects.toMatchObject({
    code: 'PORT_TAKEN',
    message: `Port ${port} of 127.0.0.1 is taken by another program.`,
  });
  await new Promise((resolve) => {
    other.close(resolve);
  });
});

test('SCD-27 a secret that is not set is refused at load, with the name of the variable', async () => {
  const second = new World('2026-01-01T00:00:00Z');
  await expect(second.start(loops, { env: { HOOK: '' } })).rejects.toMatchObject({
    issues: [{ key: 'on.secret', found: 'HOOK, which is not set in the environment' }, { origin: { file: 'deploy.md' } }],
  });
});
