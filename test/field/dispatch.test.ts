import { cpSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { fix, waitFor } from '../testkit/scene.ts';
import { makeForgeScene, offeredBranches } from './forge.ts';
import { lastRun, runsOf } from './support.ts';

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

  test('DSP-05 an issue that was closed by somebody else while it waited for its turn is not started', async () => {
    await using world = await makeForgeScene();
    const { scene, ft } = world;
    ft.addIssue({ title: 'The sum is wrong', labels: ['agent'] });
    const later = ft.addIssue({ title: 'Also wrong', labels: ['agent'] });
    await scene.loop({ agent: scene.agent([[{ sleep: 1_500 }, fix]]), discover: [{ issues: 'agent' }] });
    const running = scene.gyre('run');
    await waitFor('the agent works on the first issue', () => scene.calls().length === 1);
    later.state = 'closed';
    const ran = await running;
    expect(ran.code, ran.all).toBe(0);
    expect(ran.stdout).toMatch(/skipped: #2 Also wrong.*closed elsewhere/);
    expect(scene.calls()).toHaveLength(1);
    expect(await runsOf(scene)).toHaveLength(1);
  });

  test('DSP-05 a run whose issue was closed while its engine was dead starts no agent, lands nothing and says why', async () => {
    await using world = await makeForgeScene();
    const { scene, ft } = world;
    const issue = ft.addIssue({ title: 'The sum is wrong', labels: ['agent'] });
    await scene.loop({
      agent: scene.agent([[{ sleep: 1_000 }, fix]], 'repeat'),
      discover: [{ issues: 'agent' }],
      land: { as: 'pull-request' },
    });
    const engine = scene.start('run');
    await waitFor('the agent works', () => scene.calls().length === 1);
    engine.kill('SIGKILL');
    await new Promise((resolve) => engine.once('exit', resolve));
    issue.state = 'closed';
    const moved = scene.git('commit-tree', '-p', 'main', '-m', 'done by somebody else', 'main^{tree}');
    scene.git('update-ref', 'refs/heads/main', moved);
    scene.settle();
    const ran = await scene.gyre('run');
    expect(ran.all).toContain('closed elsewhere');
    expect(scene.calls()).toHaveLength(1);
    expect([ft.writes(), offeredBranches(scene)]).toEqual([0, []]);
    expect((await lastRun(scene)).exit?.why).toContain('closed elsewhere');
  });

  test('DSP-01 two engines in two clones take each issue once, and the loser names the owner', async () => {
    await using world = await makeForgeScene();
    const { scene, ft } = world;
    ft.delayMs = [50, 200];
    await scene.loop({
      agent: scene.agent([[{ sleep: 3_000 }, fix]], 'repeat'),
      discover: [{ issues: 'agent' }],
      land: { as: 'pull-request' },
    });
    const clone = path.join(scene.root, 'clone');
    scene.git('clone', '-q', scene.remote, clone);
    for (const name of ['gyre.yaml', '.gyre']) cpSync(path.join(scene.repo, name), path.join(clone, name), { recursive: true });
    for (let round = 1; round <= 3; round += 1) {
      const issue = ft.addIssue({ title: `The sum is wrong, ${round}`, labels: ['agent'] });
      const both = await Promise.all([scene.gyre('run'), scene.gyreIn(clone, 'run')]);
      const all = both.map((ran) => ran.all).join('\n');
      expect(scene.calls(), all).toHaveLength(round);
      expect(all.match(/claimed by/g), all).toHaveLength(1);
      expect([ft.pulls.size, offeredBranches(scene).length], all).toEqual([round, round]);
      issue.state = 'closed';
    }
  });

  test('L2 a loop that needs the forge is refused before anything starts where a token, a repository or a remote is missing', async () => {
    await using world = await makeForgeScene({ checkoutStays: false });
    const { scene, ft } = world;
    await scene.loop({ agent: scene.agent([[fix]]), land: { as: 'pull-request' } });
    const { GITHUB_TOKEN, ...rest } = scene.env;
    delete scene.env['GITHUB_TOKEN'];
    const noToken = await scene.gyre('run');
    expect([noToken.code, noToken.stderr]).toEqual([
      2,
      expect.stringMatching(/needs GitHub \(land\.as: pull-request\), and there is no token/),
    ]);
    Object.assign(scene.env, rest, { GITHUB_TOKEN });
    scene.git('remote', 'remove', 'origin');
    const noRemote = await scene.gyre('run');
    expect([noRemote.code, noRemote.stderr]).toEqual([2, expect.stringContaining('no remote named origin')]);
    expect(scene.calls()).toHaveLength(0);
    expect(ft.counts.size).toBe(0);
  });
});
