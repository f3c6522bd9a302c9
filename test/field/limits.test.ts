// LIM: limits, quota, login, over the real command line. The reading of reset times is in test/core and test/agent.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bringDown, bringUp, daemonPid, until } from '../server/support.ts';
import { fix, makeScene, type AgentStep } from '../testkit/scene.ts';
import { gyreBranches, lastRun, runsOf } from './support.ts';

const items = (count: number): string => Array.from({ length: count }, (_, at) => `- [ ] Item ${at + 1}\n  check: ./check\n`).join('');
const failing = (error: string, rest: object): AgentStep => ({ event: { type: 'result', is_error: true, error, result: error, ...rest } });

describe('field reports: limits, quota, login', () => {
  test('LIM-01 words about limits in what the agent reads stop nothing', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ print: '5-hour limit reached, try again later. Resets 2:30am.' }, fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect((await lastRun(scene)).exit?.exit).toBe('goal-met');
  });

  test('LIM-05 an expired login stops the queue after two calls at most: items stay open, and one notice says it', async () => {
    await using scene = await makeScene({
      files: { 'TODO.md': items(5), check: '#!/bin/sh\nexit 1\n', 'README.md': '# Seed\n' },
    });
    const login = [failing('auth', {}), { exit: 1 }];
    await scene.loop({
      discover: [{ tasks: 'TODO.md' }],
      parallel: 2,
      agent: scene.agent([login], 'repeat'),
    });
    for (let tick = 0; tick < 2; tick += 1) expect((await scene.gyre('run')).code).not.toBe(0);
    expect(scene.calls().length).toBeLessThanOrEqual(4);
    const runs = await runsOf(scene);
    expect(runs.length).toBeLessThanOrEqual(4);
    for (const run of runs) expect(run.exit).toMatchObject({ exit: 'parked' });
    const { notices } = await scene.json<{ notices: readonly { kind: string; text: string }[] }>('status');
    expect(notices.filter((notice) => notice.kind === 'breaker')).toHaveLength(1);
    expect(gyreBranches(scene)).toEqual([]);
  });

  test('LIM-07 P5 a run that waits for a reset makes no call before it, also over a kill -9, and exactly one after it', async () => {
    await using scene = await makeScene();
    const resetMs = 30_000;
    const resetsAt = Date.now() + resetMs;
    await scene.loop({
      on: { every: '1s' },
      agent: scene.agent([[failing('rate-limit', { resets_at: resetsAt }), { exit: 1 }], [fix]]),
    });
    await bringUp(scene);
    await until(async () => (await lastRun(scene).catch(() => undefined))?.exit?.exit === 'parked');
    process.kill(await daemonPid(scene), 'SIGKILL');
    const { run } = await lastRun(scene);
    const early = await scene.gyre('retry', run);
    expect(early.code, early.all).toBe(2);
    expect(early.stderr).toContain('--now');
    await bringUp(scene);
    while (Date.now() < resetsAt - 500) {
      expect(scene.calls()).toHaveLength(1);
      await delay(250);
    }
    await until(async () => gyreBranches(scene).length === 1);
    await bringDown(scene);
    const calls = scene.calls();
    expect(calls).toHaveLength(2);
    expect(calls[1]?.at).toBeGreaterThanOrEqual(resetsAt);
  });
});
