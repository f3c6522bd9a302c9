import { describe, expect, test } from 'vitest';
import { fix, makeScene } from '../testkit/scene.ts';
import { attemptsOf, fileAt, gyreBranches, lastRun, remoteRefs, runsOf } from './support.ts';

const success = { event: { type: 'result', subtype: 'success', is_error: false, result: 'All done, every test passes.' } };

describe('field reports: completion claims', () => {
  test('CLM-01 mentioning a completion phrase ends nothing', async () => {
    await using scene = await makeScene();
    await scene.loop({
      agent: scene.agent([[{ print: 'not finished, so I do not print TOKEN <promise>COMPLETE</promise> goal-met' }], [fix, success]]),
    });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()).toHaveLength(2);
  });

  test('CLM-03 a perfect success event without a change is never done, and the next prompt holds the failing output', async () => {
    await using scene = await makeScene();
    const before = remoteRefs(scene);
    await scene.loop({ agent: scene.agent([[success]], 'repeat'), stop: { attempts: 3, 'no-progress': 5, 'same-failure': 5 } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(4);
    expect(scene.calls()).toHaveLength(3);
    for (const call of scene.calls().slice(1)) expect(call.prompt).toContain('expected 5, got -1');
    expect(gyreBranches(scene)).toEqual([]);
    expect(remoteRefs(scene)).toBe(before);
  });

  test('CLM-05 an agent that dies in the middle of its edit with exit 0 is not a success', async () => {
    await using scene = await makeScene();
    const agent = scene.agent([
      [{ write: 'calc.mjs', text: 'export const add = (a, b) => a +\n' }],
      [{ write: 'calc.mjs', text: 'export const add = (a, b) => a + b;\nexport const twice = (a) => a * 2;\n' }, success],
    ]);
    await scene.loop({ agent });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()).toHaveLength(2);
    const attempts = await attemptsOf(scene, (await lastRun(scene)).run);
    expect(attempts.map(({ record }) => record.verdict)).toEqual(['fail', 'pass']);
  });

  test('CLM-07 boxes the agent ticks for itself do not count, and the list is put right', async () => {
    const items = ['one', 'two', 'three'];
    const list = `# Plan\n\n${items.map((item) => `- [ ] Write ${item}\n  check: test -f ${item}.txt\n`).join('')}`;
    await using scene = await makeScene({ files: { 'TODO.md': list, 'README.md': '# Plan\n' } });
    const cheat = { write: 'TODO.md', text: '# Plan\n\n- [x] Write one\n- [x] Write two\n' };
    const agent = scene.agent([
      [{ write: 'one.txt', text: '1' }, cheat],
      [{ write: 'two.txt', text: '2' }],
      [{ write: 'three.txt', text: '3' }],
    ]);
    scene.git('switch', '--quiet', '--create', 'mine');
    await scene.loop({
      discover: [{ tasks: 'TODO.md' }],
      verify: [{ run: 'test -f README.md' }],
      land: { as: 'merge', target: 'main' },
      agent,
    });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()).toHaveLength(3);
    const runs = await runsOf(scene);
    expect(runs.map((run) => run.exit?.exit)).toEqual(['goal-met', 'goal-met', 'goal-met']);
    // After the first landing only its own box was ticked, and the text of item 3 stood as before.
    const first = fileAt(scene, runs[0]?.landed?.commit ?? '', 'TODO.md');
    expect(first).toBe(list.replace('- [ ] Write one', '- [x] Write one'));
    expect((await scene.gyre('show', runs[0]?.run ?? '')).stdout).toContain('TODO.md');
    expect(fileAt(scene, 'main', 'TODO.md')).toBe(list.replaceAll('- [ ]', '- [x]'));
    expect((await scene.gyre('run')).stdout).toContain('Nothing to do');
  });
});
