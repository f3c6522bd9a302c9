import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { keepWarm } from '../../src/cli/keep-warm.ts';
import { epochMs } from '../../src/core/ids.ts';
import {
  createDependencies,
  createDiskBudget,
  createPool,
  createWorkspaces,
  diskUse,
  totalBytes,
  type Dependencies,
  type WorkspaceManager,
  type WorkspacePool,
} from '../../src/workspace/index.ts';
import { lastRun, type StatusRun } from '../field/support.ts';
import { git, makeRepository, useIsolatedHome, write } from '../testkit/repositories.ts';
import { makeScene } from '../testkit/scene.ts';
import { setUp, type Setting } from './setting.ts';

useIsolatedHome();

interface Lab extends AsyncDisposable {
  readonly setting: Setting;
  readonly pool: WorkspacePool;
  readonly workspaces: WorkspaceManager;
  readonly dependencies: Dependencies;
  makeRoom(limitBytes: number): Promise<string | undefined>;
  /** Bytes of each kind, kept dependencies by the size of their one file. */
  kinds(): Promise<{ readonly spare: number; readonly recycled: number; readonly deps: readonly number[] }>;
}

const spareText = 's'.repeat(10_000);

const makeLab = async (): Promise<Lab> => {
  const seed = makeRepository();
  write(seed.dir, { 'a/big.txt': spareText, 'package-lock.json': '{}', '.gitignore': 'deps\n' });
  git(seed.dir, 'add', '-A');
  git(seed.dir, 'commit', '-qm', 'more');
  const setting = await setUp(seed, { base: git(seed.dir, 'rev-parse', 'HEAD') });
  const { repository, stateHome } = setting;
  const known = new Map<string, string>();
  const pool = createPool({ repository, dir: path.join(stateHome, 'pool'), entriesMin: 1 });
  const dependencies = createDependencies({
    repository,
    dir: path.join(stateHome, 'deps'),
    proofs: {
      get: (key) => known.get(key),
      put: async (key, proof) => void (proof === undefined ? known.delete(key) : known.set(key, proof)),
    },
  });
  return {
    setting,
    pool,
    dependencies,
    workspaces: createWorkspaces({ repository, stateHome, clock: () => epochMs(Date.now()), pool }),
    makeRoom: (limitBytes) => createDiskBudget({ limitBytes, stateHome, pool, dependencies, clock: Date.now }).makeRoom(),
    kinds: async () => {
      const spare = await pool.warm(0, setting.base);
      const all = fs.existsSync(path.join(stateHome, 'pool'))
        ? fs.readdirSync(path.join(stateHome, 'pool')).filter((name) => name.startsWith('folder-')).length
        : 0;
      return {
        spare,
        recycled: all - spare,
        deps: (await dependencies.list()).map((one) => Math.floor(one.bytes / 100_000)).toSorted((a, b) => a - b),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await pool.close();
      await setting[Symbol.asyncDispose]();
    },
  };
};

test('L7 DSK-01 room is made in order: spares, dependencies not used for longest, folders of finished runs; unlanded work never', async () => {
  await using lab = await makeLab();
  const { setting, workspaces, dependencies, pool } = lab;
  const { stateHome, base } = setting;
  const work = await workspaces.open('unlanded', base);
  write(work.dir, { 'work.txt': 'w'.repeat(300_000) });
  await workspaces.open('done', base);
  // Files younger than a tick of the clock prove nothing, and are not used again.
  await delay(60);
  expect(await workspaces.release('done', [])).toEqual([]);
  await pool.warm(1, base);
  for (const hundreds of [1, 2]) {
    const { dir } = await workspaces.cleanRoom(`room-${hundreds}`, base);
    const command = `make ${hundreds}`;
    const filled = await dependencies.provide({ dir, prefix: '', command, env: {}, folders: ['deps'], mayKeep: true }, async () => {
      write(dir, { 'deps/file': 'd'.repeat(hundreds * 100_000) });
      return true;
    });
    expect(filled).toEqual({ from: 'set-up', kept: true, why: '' });
    await workspaces.discardCleanRoom(`room-${hundreds}`);
    await delay(20);
  }
  expect(await lab.kinds()).toEqual({ spare: 1, recycled: 1, deps: [1, 2] });

  const whole = totalBytes(await diskUse(stateHome));
  expect(await lab.makeRoom(whole)).toBeUndefined();
  expect(await lab.kinds()).toEqual({ spare: 1, recycled: 1, deps: [1, 2] });
  expect(await lab.makeRoom(whole - 1)).toBeUndefined();
  expect(await lab.kinds()).toEqual({ spare: 0, recycled: 1, deps: [1, 2] });
  expect(await lab.makeRoom(totalBytes(await diskUse(stateHome)) - 1)).toBeUndefined();
  expect(await lab.kinds()).toEqual({ spare: 0, recycled: 1, deps: [2] });
  expect(await lab.makeRoom(totalBytes(await diskUse(stateHome)) - 210_000)).toBeUndefined();
  expect(await lab.kinds()).toEqual({ spare: 0, recycled: 0, deps: [] });

  const why = await lab.makeRoom(100_000);
  const held = totalBytes(await diskUse(stateHome));
  expect(held).toBeGreaterThan(300_000);
  expect(why).toContain(`${held} bytes`);
  expect(why).toContain('100000 bytes');
  expect(why).toContain('gyre workspaces');
  expect(fs.readFileSync(path.join(work.dir, 'work.txt'), 'utf8')).toHaveLength(300_000);
});

test('L7 DSK-02 a run that finds no room is parked before an agent is called; once a person made room, it goes on', async () => {
  await using scene = await makeScene();
  fs.writeFileSync(path.join(scene.repo, 'gyre.yaml'), 'workspace: { disk: 100kb }\n');
  const big = { sh: "head -c 150000 /dev/zero | tr '\\\\0' x > big.txt" };
  await scene.loop({ agent: scene.agent([[big], [{ replace: 'calc.mjs', from: 'a - b', to: 'a + b' }]]), stop: { attempts: 1 } });
  await scene.gyre('run');
  const first = await lastRun(scene);
  expect(first.exit?.exit).toBe('stopped');
  scene.git('commit', '-q', '--allow-empty', '-m', 'another base');
  const other = path.join(scene.repo, '.gyre/loops/other.md');
  fs.copyFileSync(path.join(scene.repo, '.gyre/loops/fix.md'), other);
  scene.settle();

  const full = await scene.gyre('run', 'other');
  expect(full.code, full.all).toBe(3);
  const runs = (await scene.json<{ runs: readonly StatusRun[] }>('status')).runs;
  const parked = runs.find((run) => run.run !== first.run);
  expect(parked?.exit?.exit).toBe('parked');
  expect(parked?.exit?.why).toMatch(/hold \d{6,} bytes .*102400 bytes.*gyre workspaces/s);
  expect(scene.calls()).toHaveLength(1);
  const listed = await scene.gyre('workspaces');
  expect(listed.stdout).toMatch(/All together: 0\.\d MB of 0\.1 MB \(workspace\.disk\)/);
  expect(listed.stdout).toContain(first.run);

  const freed = await scene.gyre('workspaces', '--free', first.run);
  expect(freed.stdout).toContain('after saving its work');
  const goesOn = await scene.gyre('run', 'other');
  expect(goesOn.code, goesOn.all).toBe(0);
  expect(scene.calls()).toHaveLength(2);
}, 120_000);

test('DSK-03 the daemon fills workspaces in advance, fills again what was taken, stops where it is not worth it, and ends', async () => {
  await using lab = await makeLab();
  const { setting, workspaces } = lab;
  const told: string[] = [];
  const asked: number[] = [];
  const pool = {
    warm: async (count: number, commit: typeof setting.base) => {
      asked.push(count);
      return await lab.pool.warm(count, commit);
    },
  };
  const options = { pool, base: async () => setting.base, tell: (sentence: string) => void told.push(sentence) };
  const close = keepWarm({ ...options, count: 2, makeRoom: async () => undefined });
  await expect.poll(async () => (await lab.kinds()).spare, { timeout: 30_000 }).toBe(2);
  await close();
  expect(asked.slice(0, 2)).toEqual([1, 2]);
  const { dir } = await workspaces.open('r1', setting.base);
  expect(fs.readFileSync(path.join(dir, 'a/big.txt'), 'utf8')).toBe(spareText);
  expect((await lab.kinds()).spare).toBe(1);

  const idle = keepWarm({ ...options, count: 0, makeRoom: async () => undefined });
  const full = keepWarm({ ...options, count: 2, makeRoom: async () => 'The disk is full.' });
  const small = createPool({ repository: setting.repository, dir: path.join(setting.stateHome, 'pool-2'), entriesMin: 1_000 });
  expect(await small.warm(1, setting.base)).toBe(0);
  await Promise.all([idle(), full()]);
  await small.close();
  expect((await lab.kinds()).spare).toBe(1);
  const broken = keepWarm({
    ...options,
    count: 1,
    makeRoom: async () => undefined,
    base: async () => await Promise.reject(new Error('no commit')),
  });
  await broken();
  expect(told).toEqual(['A workspace could not be filled in advance: no commit']);
});
