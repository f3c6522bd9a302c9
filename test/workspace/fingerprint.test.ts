import { readFileSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { differences, findRepository, fingerprintCheckout } from '../../src/workspace/index.ts';
import { git, makeDirty, makeRepository, remove, rightSum, snapshotCheckout, useIsolatedHome, write } from '../testkit/repositories.ts';

useIsolatedHome();

test('L6 taking the fingerprint leaves every byte as it is, also an index that git would refresh', async () => {
  const seed = makeRepository();
  makeDirty(seed.dir);
  utimesSync(path.join(seed.dir, 'README.md'), new Date(), new Date(Date.now() + 5_000));
  const before = snapshotCheckout(seed.dir);
  const index = statSync(path.join(seed.dir, '.git/index')).mtimeMs;
  const repository = await findRepository(seed.dir);
  const first = await fingerprintCheckout(repository);
  expect(differences(first, await fingerprintCheckout(repository))).toEqual([]);
  expect(snapshotCheckout(seed.dir)).toEqual(before);
  expect(statSync(path.join(seed.dir, '.git/index')).mtimeMs).toBe(index);
  remove(seed.home);
});

test('L6 every kind of change is seen and named', async () => {
  const seed = makeRepository();
  makeDirty(seed.dir);
  const repository = await findRepository(seed.dir);
  let last = await fingerprintCheckout(repository);
  const changed = async (): Promise<string> => {
    const next = await fingerprintCheckout(repository);
    const found = differences(last, next).join(' ');
    last = next;
    return found;
  };
  write(seed.dir, { 'src/sum.mjs': rightSum });
  expect(await changed()).toBe('1 file of the checkout changed: "src/sum.mjs".');
  write(seed.dir, { 'untracked ü.txt': 'untrackeD\n', 'näue\n2.txt': '' });
  expect(await changed()).toBe(String.raw`2 files of the checkout changed: "näue\n2.txt", "untracked ü.txt".`);
  git(seed.dir, 'config', 'x.y', 'z');
  expect(await changed()).toBe('The git configuration of the repository changed.');
  git(seed.dir, 'stash', 'drop', '-q');
  expect(await changed()).toBe('The stash changed.');
  git(seed.dir, 'add', 'src/sum.mjs');
  expect(await changed()).toMatch(/^The index of the checkout changed\./);
  git(seed.dir, 'commit', '-q', '-m', 'x');
  expect(await changed()).toMatch(/^HEAD of the checkout moved\./);
  expect(await changed()).toBe('');
  expect(readFileSync(path.join(seed.dir, 'src/sum.mjs'), 'utf8')).toBe(rightSum);
  remove(seed.home);
});

test('WSP-41 a bare repository has a fingerprint too', async () => {
  const seed = makeRepository({ remote: true });
  const repository = await findRepository(seed.remote);
  const first = await fingerprintCheckout(repository);
  expect(differences(first, await fingerprintCheckout(repository))).toEqual([]);
  git(seed.remote, 'config', 'x.y', 'z');
  expect(differences(first, await fingerprintCheckout(repository))).toHaveLength(1);
  remove(seed.home);
});
