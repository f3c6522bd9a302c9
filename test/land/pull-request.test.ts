import { expect, test } from 'vitest';
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { createGithub } from '../../src/connect/index.ts';
import { epochMs } from '../../src/core/ids.ts';
import type { LandRequest } from '../../src/land/index.ts';
import { startFt, ftToken, type Ft } from '../testkit/ft.ts';
import { git, makeRepository, useIsolatedHome, write } from '../testkit/repositories.ts';
import { evidence, setUpLanding, type LandSetting } from './setting.ts';

useIsolatedHome();

interface World extends AsyncDisposable {
  readonly ft: Ft;
  readonly remote: string;
  readonly land: LandSetting;
  request(run: string, files?: Readonly<Record<string, string>>, more?: Partial<LandRequest>): Promise<LandRequest>;
}

/** A repository whose origin is a bare one beside it, with everything pushed, and a forge that knows that one. */
const openWorld = async (): Promise<World> => {
  const seed = makeRepository();
  const remote = path.join(seed.home, 'remote.git');
  git(seed.home, 'init', '-q', '--bare', '--initial-branch=main', remote);
  git(seed.dir, 'remote', 'add', 'origin', remote);
  git(seed.dir, 'push', '-q', 'origin', 'main');
  // Settings that would push more than was asked, or elsewhere.
  git(seed.dir, 'config', 'push.followTags', 'true');
  git(seed.dir, 'config', 'remote.origin.push', '+refs/heads/*:refs/heads/*');
  git(seed.dir, 'branch', 'private');
  const ft = await startFt({ remote });
  const address = { api: ft.url, owner: 'acme', name: 'seed', headOwner: 'acme', token: ftToken };
  const time = { now: () => epochMs(Date.now()), pause: () => Promise.resolve() };
  const land = await setUpLanding(seed, undefined, () => Promise.resolve(createGithub(address, time).pullRequests));
  land.setting.checkpoint();
  return {
    ft,
    remote,
    land,
    request: async (run, files, more = {}) =>
      land.request(run, await land.candidate(run, files), { as: 'pull-request', taskKey: 'issue:acme/seed#7', ...more }),
    [Symbol.asyncDispose]: async () => {
      await ft[Symbol.asyncDispose]();
      // The branch as seen at origin, which every push writes down.
      land.setting.checkpoint();
      await land.setting[Symbol.asyncDispose]();
    },
  };
};

const branches = (remote: string): string => git(remote, 'for-each-ref', '--format=%(refname)');

test('EXT-03 a verified change is one commit on one new branch of origin, and one pull request that leads back to the run', async () => {
  await using world = await openWorld();
  const { ft, remote, land } = world;
  const asked = await world.request('r1');
  const landed = await land.lander.land(asked);
  const branch = 'gyre/fix-tests/the-sum-adds';
  expect(landed).toMatchObject({ landed: 'pull-request', number: 1, branch });
  expect(branches(remote)).toBe(`refs/heads/${branch}\nrefs/heads/main`);
  expect(git(remote, 'rev-list', '--count', `main..${branch}`)).toBe('1');
  const [pull] = ft.pulls.values();
  expect(pull).toMatchObject({ target: 'main', title: 'gyre(fix-tests): The sum adds', sha: git(remote, 'rev-parse', branch) });
  expect(pull?.body).toMatch(/^Closes #7\n/);
  expect(pull?.body).toContain(`\nGyre-Run: r1\nGyre-Loop: fix-tests\nGyre-Evidence: ${evidence}\n`);
  expect(await land.lander.find(asked)).toEqual(landed);
  expect(await land.lander.land(asked)).toEqual(landed);
  expect(ft.count('POST /pulls')).toBe(1);
});

test('JRN-07 a pull request whose answer was lost is found, and one refused for a moment is opened after looking again', async () => {
  await using world = await openWorld();
  const { ft, land } = world;
  ft.trouble({ method: 'POST', path: /^\/pulls$/, times: 1, does: { loses: 'answer' } });
  expect(await land.lander.land(await world.request('r1'))).toMatchObject({ landed: 'pull-request', number: 1 });
  expect([ft.pulls.size, ft.count('POST /pulls')]).toEqual([1, 1]);
  ft.trouble({ method: 'POST', path: /^\/pulls$/, times: 2, does: { answer: 500 } });
  expect(await land.lander.land(await world.request('r2', { 'b.txt': 'b' }))).toMatchObject({ landed: 'pull-request', number: 2 });
  expect([ft.pulls.size, ft.count('POST /pulls')]).toEqual([2, 4]);
});

test('EXT-03 a refused pull request is not landed: the branch is named, and the same one is used when it goes on', async () => {
  await using world = await openWorld();
  const { ft, remote, land } = world;
  ft.trouble({
    method: 'POST',
    path: /^\/pulls$/,
    times: 1,
    does: { answer: 422, body: { message: 'Validation Failed', errors: ['no room'] } },
  });
  const asked = await world.request('r1');
  const refused = await land.lander.land(asked);
  expect(refused).toMatchObject({ landed: 'no', ref: 'refs/gyre/runs/r1/a1' });
  expect(refused.landed === 'no' ? refused.why : '').toMatch(
    /422: Validation Failed: no room.*branch gyre\/fix-tests\/the-sum-adds of origin/,
  );
  expect(await land.lander.find(asked)).toBeUndefined();
  expect(await land.lander.land(asked)).toMatchObject({ landed: 'pull-request', branch: 'gyre/fix-tests/the-sum-adds' });
  expect(branches(remote).split('\n')).toHaveLength(2);
});

test('LND-10 a branch of origin is never moved: one of the same name by somebody else stays, and another name is taken', async () => {
  await using world = await openWorld();
  const { remote, land } = world;
  const first = await world.request('r1');
  const foreign = git(remote, 'commit-tree', '-p', 'main', '-m', 'theirs', 'main^{tree}');
  git(remote, 'update-ref', 'refs/heads/gyre/fix-tests/the-sum-adds', foreign);
  expect(await land.lander.land(first)).toMatchObject({ branch: 'gyre/fix-tests/the-sum-adds-2' });
  // Between the look and the push: the offer is written, then the name is taken.
  const second = await world.request('r2', { 'b.txt': 'b' });
  world.ft.trouble({ method: 'POST', path: /^\/pulls$/, times: 1, does: { answer: 422 } });
  expect(await land.lander.land(second)).toMatchObject({ landed: 'no' });
  git(remote, 'update-ref', 'refs/heads/gyre/fix-tests/the-sum-adds-3', foreign);
  expect(await land.lander.land(second)).toMatchObject({ branch: 'gyre/fix-tests/the-sum-adds-4' });
  for (const name of ['the-sum-adds', 'the-sum-adds-3']) expect(git(remote, 'rev-parse', `gyre/fix-tests/${name}`)).toBe(foreign);
});

test('LND-11 commits that origin does not have are not pushed along', async () => {
  await using world = await openWorld();
  const { remote, land } = world;
  const before = branches(remote);
  const { seed } = land.setting;
  write(seed.dir, { 'mine.txt': 'not for others\n' });
  git(seed.dir, 'add', 'mine.txt');
  git(seed.dir, 'commit', '-q', '-m', 'mine');
  const base = git(seed.dir, 'rev-parse', 'HEAD') as LandRequest['base'];
  land.setting.checkpoint();
  const refused = await land.lander.land(await world.request('r1', undefined, { base }));
  expect(refused.landed === 'no' ? refused.why : refused.landed).toMatch(/is not known to be part of main on origin/);
  const nowhere = await land.lander.land(await world.request('r2', { 'b.txt': 'b' }, { target: 'nowhere' }));
  expect(nowhere.landed === 'no' ? nowhere.why : nowhere.landed).toMatch(/no branch nowhere on origin/);
  expect([branches(remote), world.ft.writes()]).toEqual([before, 0]);
});

test('LND-12 a remote that does not take the branch is named, and the work is kept', async () => {
  await using world = await openWorld();
  const { remote, land } = world;
  write(remote, { 'hooks/pre-receive': '#!/bin/sh\necho no entry >&2\nexit 1\n' });
  git(remote, 'config', 'core.hooksPath', 'hooks');
  chmodSync(path.join(remote, 'hooks/pre-receive'), 0o755);
  const refused = await land.lander.land(await world.request('r1'));
  expect(refused).toMatchObject({ landed: 'no', ref: 'refs/gyre/runs/r1/a1' });
  expect(refused.landed === 'no' ? refused.why : '').toMatch(/Origin did not take the branch.*no entry/);
  expect(world.ft.writes()).toBe(0);
});

test('LND-13 a pull request waits while it is open, is on the target once merged, also unfetched, and gone when closed', async () => {
  await using world = await openWorld();
  const { ft, land } = world;
  const landed = await land.lander.land(await world.request('r1'));
  const [pull] = ft.pulls.values();
  if (pull === undefined) throw new Error('no pull request');
  expect(await land.lander.fate(landed, { tip: undefined, target: 'main' })).toBe('waiting');
  pull.state = 'closed';
  expect(await land.lander.fate(landed, { tip: undefined, target: 'main' })).toBe('gone');
  pull.mergedAt = '2026-01-01T00:00:00Z';
  expect(await land.lander.fate(landed, { tip: undefined, target: 'main' })).toBe('on-target');
});
