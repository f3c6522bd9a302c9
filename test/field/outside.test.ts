import { describe, expect, test } from 'vitest';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fix, type AgentStep } from '../testkit/scene.ts';
import { makeForgeScene, offeredBranches, type ForgeScene } from './forge.ts';
import { fileAt, lastRun } from './support.ts';

const loopOf = (world: ForgeScene, steps: readonly AgentStep[]) =>
  world.scene.loop({
    agent: world.scene.agent([steps]),
    discover: [{ issues: 'agent' }],
    land: { as: 'pull-request' },
    notes: 'issue',
  });

/** What the outside holds when all is done once: one pull request, one comment, one branch, and the run says so. */
const expectOnce = async ({ scene, ft }: ForgeScene): Promise<void> => {
  expect([...ft.pulls.values()].map(({ branch }) => branch)).toEqual(offeredBranches(scene));
  expect(ft.pulls.size).toBe(1);
  const [pull] = ft.pulls.values();
  const [comment, ...more] = ft.comments.values();
  expect(more).toEqual([]);
  expect(comment?.body).toContain(`/pull/${pull?.number}`);
  const run = await lastRun(scene);
  expect(run).toMatchObject({ exit: { exit: 'goal-met' }, landed: { landed: 'pull-request', branch: pull?.branch } });
  expect(pull?.body.split('\n')).toContain(`Gyre-Run: ${run.run}`);
  expect(pull?.body).toMatch(/^Closes #1\n/);
  expect(pull?.body).toMatch(/^Gyre-Evidence: [0-9a-f]{64}$/m);
  expect(fileAt(scene, pull?.sha ?? '', 'calc.mjs')).toContain('a + b');
  expect(scene.calls()).toHaveLength(1);
};

describe('field reports: effects outside', () => {
  test.each(['POST /pulls', 'POST /issues/n/comments', 'push'])(
    'JRN-07 killed right after the outside accepted %s, the next run finds it and does not repeat it',
    async (effect) => {
      await using world = await makeForgeScene();
      const { scene, ft } = world;
      ft.addIssue({ title: 'The sum is wrong', labels: ['agent'] });
      await loopOf(world, [fix]);
      let pid = 0;
      if (effect === 'push') {
        const hook = path.join(scene.remote, 'hooks', 'post-receive');
        writeFileSync(hook, `#!/bin/sh\nmv "$0" "$0.done"\nkill -9 $(cat '${scene.root}/pid')\n`);
        chmodSync(hook, 0o755);
      } else {
        const [method = '', route = ''] = effect.split(' ');
        ft.trouble({ method, path: new RegExp(`${route.replace('n', '\\d+')}$`), times: 1, does: { kills: () => pid } });
      }
      const engine = scene.start('run');
      pid = engine.pid ?? 0;
      writeFileSync(path.join(scene.root, 'pid'), String(pid));
      const signal = await new Promise((resolve) => engine.once('exit', (_code, by) => resolve(by)));
      expect(signal).toBe('SIGKILL');

      const ran = await scene.gyre('run');
      expect(ran.code, ran.all).toBe(0);
      await expectOnce(world);
      expect([ft.count('POST /pulls'), ft.count('POST /issues/n/comments')]).toEqual([1, 1]);
    },
  );
});
