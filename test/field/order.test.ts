// DSP-07, DSP-09: what waits for what, and who is dead before the next one starts. The decisions alone are in test/dispatch.
import { describe, expect, test } from 'vitest';
import { fix, makeScene } from '../testkit/scene.ts';
import { attemptsOf, fileAt, gyreBranches, lastRun, runsOf } from './support.ts';

const line = (task: object): string => JSON.stringify({ trust: 'repository', ...task });
const files = {
  'README.md': '# Seed\n',
  tasks: `#!/bin/sh\ntest -f a.txt || echo '${line({ key: 'a', title: 'Make a' })}'\ntest -f b.txt || echo '${line({ key: 'b', title: 'Make b', needs: ['a'] })}'\n`,
};

describe('field reports: order and start', () => {
  test('DSP-07 a task that needs another one starts from a base that holds its landed change', async () => {
    await using scene = await makeScene({ files });
    scene.git('switch', '--quiet', '--create', 'mine');
    // Both calls work by what stands in their folder: the second one finds the first one's file only when it had landed.
    const work = [{ sh: 'if test -f a.txt; then cat a.txt > b.txt; else echo from-a > a.txt; fi' }];
    await scene.loop({
      discover: [{ command: './tasks' }],
      verify: [{ run: 'true' }],
      protect: [],
      parallel: 2,
      land: { as: 'merge', target: 'main' },
      agent: scene.agent([work, work]),
    });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(fileAt(scene, 'main', 'b.txt')).toBe('from-a\n');
    expect((await runsOf(scene)).map((run) => run.title)).toEqual(['Make a', 'Make b']);
  });

  test('DSP-07 what was delivered as a branch counts as landed once a person has merged it, and not before', async () => {
    await using scene = await makeScene({ files, checkoutStays: false });
    const work = [{ sh: 'if test -f a.txt; then cat a.txt > b.txt; else echo from-a > a.txt; fi' }];
    await scene.loop({
      discover: [{ command: './tasks' }],
      verify: [{ run: 'true' }],
      protect: [],
      parallel: 2,
      agent: scene.agent([work, work]),
    });
    expect((await scene.gyre('run')).stdout).toMatch(/skipped: Make b: needs item:a to land first/);
    expect((await scene.gyre('run')).stdout).toMatch(/skipped: Make b: needs item:a to land first/);
    expect(scene.calls()).toHaveLength(1);
    scene.git('merge', '--quiet', gyreBranches(scene)[0] ?? '');
    scene.settle();
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()).toHaveLength(2);
  });

  test('DSP-07 where the first one fails the second is not started, and is shown as blocked by it', async () => {
    await using scene = await makeScene({ files });
    await scene.loop({
      discover: [{ command: './tasks' }],
      verify: [{ run: 'false' }],
      parallel: 2,
      stop: { attempts: 1 },
      agent: scene.agent([[{ write: 'a.txt', text: 'a\n' }]]),
    });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).not.toBe(0);
    expect(ran.stdout).toMatch(/skipped: Make b: blocked by item:a, which failed/);
    expect(scene.calls()).toHaveLength(1);
  });

  test('DSP-09 an agent that is slow to say its first word is dead before the next one starts', async () => {
    await using scene = await makeScene();
    await scene.loop({
      stop: { idle: '2s' },
      agent: scene.agent([[{ sleep: 5_000 }, { print: 'here I am' }, { sleep: 4_000 }, fix], [fix]]),
    });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const run = await lastRun(scene);
    expect(run.exit?.exit).toBe('goal-met');
    const attempts = await attemptsOf(scene, run.run);
    expect(attempts[0]?.record.agentOutcome).toContain('timed out: idle');
    const [first, second] = scene.calls();
    expect(scene.calls()).toHaveLength(2);
    // It was ended by its limit, so its ledger has a start and no end.
    expect(scene.ledger().filter((entry) => entry.kind === 'end' && entry.call === first?.call)).toEqual([]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(scene.alive()).toEqual([]);
  });
});
