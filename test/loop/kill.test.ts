import { describe, expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import { fix, makeScene } from '../testkit/scene.ts';
import { fileAt, gyreBranches, lastRun, runsOf } from '../field/support.ts';

/** Where the engine is killed: spread over discovery, set-up, agent, verdict and landing of a run that takes about three seconds. */
const instantsMs = [300, 700, 1_100, 1_500, 1_900, 2_300, 2_700, 3_100];

describe('kill -9 of the engine', () => {
  test.each(instantsMs)(
    'L5 P2 killed after %i ms, the next run ends by the rules: one landing, one agent call an attempt, no orphan',
    async (instant) => {
      await using scene = await makeScene();
      await scene.loop({
        agent: scene.agent(
          [
            [{ sleep: 600 }, { append: 'calc.mjs', text: '// first idea\n' }],
            [{ sleep: 300 }, fix],
          ],
          'repeat',
        ),
      });
      const engine = scene.start('run');
      const ended = new Promise((resolve) => engine.once('exit', resolve));
      await delay(instant);
      engine.kill('SIGKILL');
      await ended;

      let ran = await scene.gyre('run');
      // A run that had landed before the kill waits to be merged; all others end now.
      if (ran.code !== 0) ran = await scene.gyre('run');
      expect(ran.code, ran.all).toBe(0);
      expect(gyreBranches(scene)).toHaveLength(1);
      expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');
      expect(scene.calls()).toHaveLength(2);
      const runs = await runsOf(scene);
      expect(runs.map((run) => run.exit?.exit)).toEqual(['goal-met']);
      expect((await lastRun(scene)).attempts).toBe(2);
      expect(scene.git('worktree', 'list').split('\n')).toHaveLength(1);
    },
  );

  test('L5 killed again and again, each attempt of the agent is still made exactly once', async () => {
    await using scene = await makeScene();
    const idea = (n: number) => [{ sleep: 500 }, { append: 'calc.mjs', text: `export const idea${n} = ${n};\n` }];
    await scene.loop({ agent: scene.agent([idea(1), idea(2), [{ sleep: 500 }, fix]]), stop: { 'same-failure': 9 } });
    for (let life = 0; life < 6; life += 1) {
      const engine = scene.start('run');
      const ended = new Promise((resolve) => engine.once('exit', resolve));
      await delay(900 + 170 * life);
      engine.kill('SIGKILL');
      await ended;
    }
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()).toHaveLength(3);
    expect(gyreBranches(scene)).toHaveLength(1);
    const [run] = await runsOf(scene);
    expect(run?.exit?.exit).toBe('goal-met');
  });

  test('L13 Ctrl-C ends agents in order, keeps the work, and the next run goes on', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ append: 'calc.mjs', text: '// half\n' }, { sleep: 60_000 }], [fix]]) });
    const engine = scene.start('run');
    const ended = new Promise<number | null>((resolve) => engine.once('exit', resolve));
    while (scene.calls().length < 1) await delay(25);
    await delay(200);
    engine.kill('SIGINT');
    expect(await ended).toBe(4);
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('// half');
  });
});
