import { beforeAll, describe, expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import { fix, makeScene } from '../testkit/scene.ts';
import { fileAt, gyreBranches, lastRun, runsOf } from '../field/support.ts';

/** Where in its course the engine is killed: spread over discovery, set-up, agent, verdict, second attempt and landing. */
const shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.96];

const course = [
  [{ sleep: 600 }, { append: 'calc.mjs', text: '// first idea\n' }],
  [{ sleep: 300 }, fix],
];

describe('kill -9 of the engine', () => {
  let wholeMs = 0;

  beforeAll(async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent(course) });
    const begun = performance.now();
    const ran = await scene.gyre('run');
    wholeMs = performance.now() - begun;
    expect(ran.code, ran.all).toBe(0);
  }, 180_000);

  test.each(shares)(
    'L5 P2 killed at %d of its course, the next run ends by the rules: one landing, one agent call an attempt',
    async (share) => {
      await using scene = await makeScene();
      await scene.loop({ agent: scene.agent(course) });
      const engine = scene.start('run');
      const ended = new Promise((resolve) => engine.once('exit', resolve));
      await delay(wholeMs * share);
      engine.kill('SIGKILL');
      await ended;

      const ran = await scene.gyre('run');
      expect(ran.code, ran.all).toBe(0);
      expect(gyreBranches(scene)).toHaveLength(1);
      expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');
      expect(scene.calls()).toHaveLength(2);
      expect((await runsOf(scene)).map((run) => run.exit?.exit)).toEqual(['goal-met']);
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
