// Field reports on the journal and recovery (JRN), through the command line.
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fix, makeScene, type Scene } from '../testkit/scene.ts';
import { lastRun, runsOf } from './support.ts';

/** The state home that the scene's repository has; there is one. */
const stateHome = (scene: Scene): string => {
  const all = path.join(scene.root, 'state', 'gyre');
  const [only] = readdirSync(all);
  if (only === undefined) throw new Error('nothing was run');
  return path.join(all, only);
};

test(
  'JRN-03 the files beside the journal cut to nothing: the next run starts and every earlier run is still there',
  { timeout: 120_000 },
  async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: { use: 'command', command: scene.agent([[fix]], 'repeat') } });
    expect((await scene.gyre('run', 'fix')).code).toBe(0);
    const landed = await runsOf(scene);
    for (const name of ['lock', 'reserve', 'journal.sqlite-wal', 'journal.sqlite-shm'])
      writeFileSync(path.join(stateHome(scene), name), '');
    const ran = await scene.gyre('run', 'fix');
    expect(ran.code, ran.all).toBe(0);
    expect((await runsOf(scene)).slice(0, landed.length)).toEqual(landed);
  },
);

test(
  'JRN-01 a journal cut in half: `gyre journal verify` says so with exit code 5, and a copy put back is whole',
  { timeout: 120_000 },
  async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: { use: 'command', command: scene.agent([[fix]], 'repeat') } });
    await scene.gyre('run', 'fix');
    expect((await lastRun(scene)).exit?.exit).toBe('goal-met');
    const file = path.join(stateHome(scene), 'journal.sqlite');
    const whole = readFileSync(file);
    truncateSync(file, Math.floor(whole.length / 2) + 1);
    const verified = await scene.gyre('journal', 'verify');
    expect(verified.code).toBe(5);
    expect(verified.all).toMatch(/damaged/);
    writeFileSync(file, whole);
    expect((await scene.gyre('journal', 'verify')).code).toBe(0);
  },
);
