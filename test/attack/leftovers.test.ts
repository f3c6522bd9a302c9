import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { tidyStateHome } from '../../src/cli/tidy-state-home.ts';
import { remove, temporaryFolder } from '../testkit/repositories.ts';
import { fix, makeScene, waitFor } from '../testkit/scene.ts';

const make = (dir: string, files: readonly string[]): void => {
  for (const file of files) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), 'x');
  }
};

test('L13 what a dead engine left goes; what lives, is kept by name or lies behind a link stays', async () => {
  const root = temporaryFolder();
  try {
    const stateHome = path.join(root, 'state');
    make(stateHome, [
      'clean/check-p1-npm-test-0a1b2c3d/calc.mjs',
      'clean/discover-0a1b2c3d/calc.mjs',
      'clean/notes of a person/a.txt',
      'tmp/0a1b2c3d/t',
      'tmp/r1-4194305-1.index',
      `tmp/r1-${process.pid}-1.index`,
      'jobs/tick-old/1-check/stdout.log',
      'jobs/tick-live/1-check/stdout.log',
      'jobs/rkept/a1-agent.1/stdout.log',
      'jobs/rold/a1-agent.1/stdout.log',
      'worktrees/r1/work.txt',
    ]);
    make(root, ['precious/check-x-0a1b2c3d/a.txt']);
    symlinkSync(path.join(root, 'precious'), path.join(stateHome, 'clean', 'check-x-11111111'));
    const ended: string[] = [];
    await tidyStateHome({
      stateHome,
      keepJobs: new Set(['rkept']),
      endProcesses: async (marker) => ended.push(marker),
      isRunning: async (jobDir) => jobDir.includes('tick-live'),
    });
    expect(readdirSync(path.join(stateHome, 'clean'))).toEqual(['notes of a person']);
    expect(readdirSync(path.join(stateHome, 'tmp'))).toEqual([`r1-${process.pid}-1.index`]);
    expect(readdirSync(path.join(stateHome, 'jobs')).toSorted()).toEqual(['rkept', 'tick-live']);
    expect(existsSync(path.join(stateHome, 'worktrees/r1/work.txt'))).toBe(true);
    expect(existsSync(path.join(root, 'precious/check-x-0a1b2c3d/a.txt'))).toBe(true);
    expect(ended.toSorted()).toEqual(['check-p1-npm-test-0a1b2c3d', 'check-x-11111111', 'discover-0a1b2c3d']);

    // The whole folder replaced by a link: nothing behind it is ours.
    remove(path.join(stateHome, 'clean'));
    symlinkSync(path.join(root, 'precious'), path.join(stateHome, 'clean'));
    await tidyStateHome({ stateHome, keepJobs: new Set(), endProcesses: async () => {}, isRunning: async () => false });
    expect(existsSync(path.join(root, 'precious/check-x-0a1b2c3d/a.txt'))).toBe(true);
  } finally {
    remove(root);
  }
});

test('L13 an engine killed in the middle of a check leaves nothing once the next one has run', async () => {
  await using scene = await makeScene({
    files: { 'calc.mjs': 'export const add = (a, b) => a - b;\n', check: '#!/bin/sh\nsleep 1\ngrep -q "a + b" calc.mjs\n' },
  });
  await scene.loop({ agent: scene.agent([[fix]], 'repeat') });
  const engine = scene.start('run');
  const ended = new Promise((resolve) => engine.once('exit', resolve));
  const gyreHome = path.join(scene.root, 'state', 'gyre');
  const inside = (folder: string): readonly string[] =>
    (existsSync(gyreHome) ? readdirSync(gyreHome) : []).flatMap((home) => {
      const dir = path.join(gyreHome, home, folder);
      return existsSync(dir) ? readdirSync(dir) : [];
    });
  await waitFor('a clean room is in use', () => inside('tmp').length > 0, 60_000);
  engine.kill('SIGKILL');
  await ended;
  expect(inside('clean')).not.toEqual([]);
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(0);
  expect(inside('clean')).toEqual([]);
  expect(inside('tmp')).toEqual([]);
  // Output is kept of runs that the journal knows: the killed tick, which went on, and its task's run. The second tick ran no check: what
  // they say on base is remembered.
  expect(inside('jobs').filter((name) => name.startsWith('fix-manual-'))).toHaveLength(1);
  expect(inside('jobs')).toHaveLength(2);
});
