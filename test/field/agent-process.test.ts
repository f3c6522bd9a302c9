import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { isRunning } from '../testkit/processes.ts';
import { fix, makeScene, waitFor } from '../testkit/scene.ts';
import { attemptsOf, gyreBranches, lastRun } from './support.ts';

describe('field reports: agent process', () => {
  test('PRC-01 an agent that announced its result and never ends is ended, and its work is verified', async () => {
    await using scene = await makeScene();
    const agent = scene.agent([
      [fix, { event: { type: 'result', subtype: 'success', is_error: false, result: 'done' } }, { sleep: 3_600_000 }],
    ]);
    await scene.loop({ agent, stop: { 'result-grace': '1s' } });
    const ran = await scene.gyre('run');
    expect(ran.all).toContain('goal-met');
    expect(ran.code).toBe(0);
    expect(scene.calls()).toHaveLength(1);
    expect((await scene.gyre('show', (await lastRun(scene)).run)).stdout).toContain('ended by Gyre after its result');
  });

  test('PRC-03 the agent sees the end of its input although the parent holds its own open', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]), stop: { session: '20s' } });
    const engine = scene.startWith('pipe', 'run');
    const code = await new Promise((resolve) => engine.once('exit', resolve));
    expect(code).toBe(0);
    expect(scene.calls()).toHaveLength(1);
  });

  test('PRC-05 stop ends the whole tree, a second stop changes nothing, and a stranger of the same name lives on', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ child: 'ignores-signals' }, { child: 'setsid' }, { sleep: 3_600_000 }]]) });
    const stranger = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600000)'], { stdio: 'ignore' });
    try {
      const engine = scene.start('run');
      const ended = new Promise<number | null>((resolve) => engine.once('exit', resolve));
      await waitFor('both children are noted', () => scene.ledger().filter((entry) => entry.kind === 'child').length === 2);
      const pids = scene.ledger().map((entry) => entry.child ?? entry.pid);
      const { run } = await lastRun(scene);
      expect((await scene.gyre('stop', run)).code).toBe(0);
      expect(await ended).toBe(4);
      expect(pids.filter(isRunning)).toEqual([]);
      expect((await scene.gyre('stop', run)).code).toBe(0);
      expect((await lastRun(scene)).exit).toMatchObject({ exit: 'stopped', by: 'cancelled' });
      // L8: what the cut-off attempt cost is unknown, not nothing.
      expect((await scene.gyre('show', run)).stdout).toContain('spend    unknown cost');
      expect(isRunning(stranger.pid as number)).toBe(true);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  test('PRC-07 after kill -9 of the engine the living agent is adopted: one call, one landing, its spend counted', async () => {
    await using scene = await makeScene();
    const agent = scene.agent([[{ event: { cost_usd: 0.25 } }, { sleep: 4_000 }, fix]]);
    await scene.loop({ agent });
    const engine = scene.start('run');
    await waitFor('the agent is at work', () => scene.calls().length === 1);
    engine.kill('SIGKILL');
    await new Promise((resolve) => engine.once('exit', resolve));
    const agentPid = scene.calls()[0]?.pid ?? 0;
    expect(isRunning(agentPid)).toBe(true);

    const again = await scene.gyre('run');
    expect(again.all).toContain('Going on with run');
    expect(again.code).toBe(0);
    expect(scene.calls()).toHaveLength(1);
    expect(gyreBranches(scene)).toHaveLength(1);
    const [attempt] = await attemptsOf(scene, (await lastRun(scene)).run);
    expect(attempt?.agent?.process.wasAdopted).toBe(true);
    expect(attempt?.agent?.spend.usd).toBe(0.25);

    // And once more: what waits to be merged is not made again.
    const third = await scene.gyre('run');
    expect(third.all).toContain('waits to be merged');
    expect(third.code).toBe(0);
    expect(scene.calls()).toHaveLength(1);
    expect(gyreBranches(scene)).toHaveLength(1);
  });

  test('PRC-07 an agent that ended while no engine lived is read, not run again', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sleep: 1_500 }, fix]]) });
    const engine = scene.start('run');
    await waitFor('the agent is at work', () => scene.calls().length === 1);
    engine.kill('SIGKILL');
    await waitFor('the agent ended by itself', () => scene.ledger().some((entry) => entry.kind === 'end'));
    expect((await scene.gyre('run')).code).toBe(0);
    expect(scene.calls()).toHaveLength(1);
    expect(gyreBranches(scene)).toHaveLength(1);
  });

  test('PRC-09 a prompt of 300 KB arrives whole, and no argument carries it', async () => {
    await using scene = await makeScene();
    const item = JSON.stringify({ key: 'big', title: 'A big item', body: `${'lorem ipsum '.repeat(25_000)}\nMARKER-IN-THE-LAST-LINE` });
    const file = `${scene.root}/items.jsonl`;
    (await import('node:fs')).writeFileSync(file, `${item}\n`);
    await scene.loop({ discover: [{ command: `cat '${file}'` }], agent: scene.agent([[fix]]) }, '{{ task.body }}\n');
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const [call] = scene.calls();
    expect(call?.promptBytes).toBeGreaterThan(300_000);
    expect(Math.max(...(call?.argv ?? []).map((argument) => argument.length))).toBeLessThan(8_192);
    const [attempt] = await attemptsOf(scene, (await lastRun(scene)).run);
    expect(call?.promptSha256).toBe(attempt?.prompt);
  });
});
