// `gyre retry` on a run that has not ended: it stands still until somebody says that it goes on.
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openReader, requestState } from '../../src/journal/index.ts';
import { taskHandler } from '../../src/loop/index.ts';
import { gyreBranches, runsOf } from '../field/support.ts';
import { fix, makeScene, type Scene } from '../testkit/scene.ts';
import { bringDown, bringUp, until } from './support.ts';

const stateHomeOf = async (scene: Scene): Promise<string> => (await scene.json<{ readonly stateHome: string }>('status')).stateHome;

/** Brings a scene to a paused run whose agent has been called, under a daemon that is up. @returns its name */
const pauseOne = async (scene: Scene): Promise<string> => {
  await scene.loop({ agent: scene.agent([[{ sleep: 1_500 }, fix], [fix]]), on: { every: '1s' } });
  await bringUp(scene);
  await until(async () => scene.calls().length === 1);
  const stateHome = await stateHomeOf(scene);
  using reader = openReader(stateHome);
  const run = reader?.runs({ loop: taskHandler.name })[0]?.id ?? '';
  expect(requestState(stateHome, run, 'pause', 'a look at it')).toBe(true);
  await until(async () => reader?.run(run)?.state === 'paused');
  return run;
};

/** Ends the daemon and leaves every run as it is; `park` would end the agent of a paused run and the run with it. */
const leave = async (scene: Scene): Promise<void> => {
  const down = await scene.gyre('down', '--drain', 'checkpoint');
  expect(down.code, down.all).toBe(0);
};

/** As an engine writes it that does not know how a process ended. */
const parkForPerson = async (scene: Scene, run: string, code: string): Promise<void> => {
  using db = new DatabaseSync(path.join(await stateHomeOf(scene), 'journal.sqlite'));
  const attention = JSON.stringify({ code, message: 'Nobody knows how it ended.' });
  db.prepare("UPDATE runs SET state = 'needs-attention', attention = ? WHERE id = ?").run(attention, run);
};

describe('gyre retry on a run that stands still', () => {
  test('CLI-50 a paused run goes on with the daemon, and ends as if it had not been paused', async () => {
    await using scene = await makeScene();
    const run = await pauseOne(scene);
    const changed = await scene.gyre('retry', run, '--attempts', '9');
    expect([changed.code, changed.stderr]).toEqual([2, expect.stringContaining('has not ended')]);
    const again = await scene.gyre('retry', run);
    expect(again.code, again.all).toBe(0);
    expect((await runsOf(scene)).map((one) => one.exit?.exit)).toEqual(['goal-met']);
    expect(gyreBranches(scene)).toHaveLength(1);
    await bringDown(scene);
    expect(scene.calls()).toHaveLength(1);
  });

  test('CLI-51 without a daemon a paused run goes on in the command itself', async () => {
    await using scene = await makeScene();
    const run = await pauseOne(scene);
    await leave(scene);
    const again = await scene.gyre('retry', run);
    expect(again.code, again.all).toBe(0);
    expect(again.stdout).toContain('goal-met');
    expect((await runsOf(scene)).map((one) => one.exit?.exit)).toEqual(['goal-met']);
  });

  test('CLI-52 what only a person can decide is told in one sentence with the way out, and the way out works', async () => {
    await using scene = await makeScene();
    const run = await pauseOne(scene);
    await leave(scene);
    await parkForPerson(scene, run, 'STEP_UNKNOWN');
    await bringUp(scene);
    const refused = await scene.gyre('retry', run);
    expect(refused.code, refused.all).toBe(2);
    expect(refused.stderr).toMatch(/needs a person: Nobody knows how it ended\.\nLook whether it happened; .*gyre stop .*gyre retry/u);
    expect((await runsOf(scene)).map((one) => one.exit)).toEqual([undefined]);
    expect((await scene.gyre('stop', run)).code).toBe(0);
    await until(async () => (await runsOf(scene))[0]?.exit !== undefined);
    const again = await scene.gyre('retry', run);
    expect(again.code, again.all).toBe(0);
    await bringDown(scene);
  });

  test('CLI-53 a run parked for a reason that may have gone meanwhile goes on', async () => {
    await using scene = await makeScene();
    const run = await pauseOne(scene);
    await leave(scene);
    await parkForPerson(scene, run, 'BUDGET_EXHAUSTED');
    const again = await scene.gyre('retry', run);
    expect(again.code, again.all).toBe(0);
  });
});
