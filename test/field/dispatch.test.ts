import { describe, expect, test } from 'vitest';
import { fix } from '../testkit/scene.ts';
import { makeForgeScene } from './forge.ts';
import { runsOf } from './support.ts';

describe('field reports: discovery, claims, dispatch', () => {
  test('DSP-03 the oldest issue behind five pages is the one that is run; pull requests are no issues', async () => {
    await using world = await makeForgeScene();
    const { scene, ft } = world;
    const { number } = ft.addIssue({ title: 'The sum is wrong', body: 'add(2, 3) gives -1', labels: ['agent'] });
    for (let n = 0; n < 129; n += 1) ft.addIssue({ title: `entry ${n}`, labels: n < 40 ? ['agent'] : ['talk'], isPull: n < 40 });
    await scene.loop(
      { agent: scene.agent([[fix]]), discover: [{ issues: { labels: ['agent'] } }] },
      '{{ task.title }}\n\n{{ task.body }}\n',
    );
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect((await runsOf(scene)).map(({ task, title }) => [task, title])).toEqual([
      [`issue:acme/seed#${number}`, `#${number} The sum is wrong`],
    ]);
    expect(scene.calls()).toHaveLength(1);
    expect(scene.calls()[0]?.prompt).toContain('add(2, 3) gives -1');
    expect(ft.writes()).toBe(0);
    // The token is for Gyre alone.
    expect(scene.calls()[0]?.env).not.toContain('GITHUB_TOKEN');
  });
});
