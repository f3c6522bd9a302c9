import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { fileAt, gyreBranches, runsOf } from '../field/support.ts';
import { fix, makeScene, type Scene } from '../testkit/scene.ts';
import { bringDown, bringUp, daemonPid, until } from './support.ts';

describe('gyre up and down', () => {
  test('SRV-10 up, a tick by its trigger, down: work is done without a command, and nothing is left running', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]), on: { every: '1s' } });
    const up = await scene.gyre('up');
    expect(up.code, up.all).toBe(0);
    expect(up.stdout).toContain('Gyre is up as process');
    await until(async () => gyreBranches(scene).length === 1);
    expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');
    const status = await scene.gyre('status');
    expect(status.stdout).toContain('Gyre is up as process');
    const down = await scene.gyre('down');
    expect(down.code, down.all).toBe(0);
    expect((await scene.gyre('status')).stdout).not.toContain('Gyre is up');
    expect((await scene.gyre('down')).stdout).toContain('No daemon is at work here.');
    expect(scene.calls()).toHaveLength(1);
  });

  test('SRV-11 a second daemon says who holds the state home, and exits 5; a reader needs neither', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([]) });
    await bringUp(scene);
    const pid = await daemonPid(scene);
    for (const args of [['up'], ['up', '--foreground']]) {
      const second = await scene.gyre(...args);
      expect(second.code, second.all).toBe(5);
      expect(second.stderr).toContain(`process ${pid} since `);
    }
    expect((await scene.gyre('status')).code).toBe(0);
    await bringDown(scene);
  });

  test('SRV-12 gyre run beside the daemon hands its tick over, tells what happens, and exits as without one', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) });
    await bringUp(scene);
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(ran.stdout).toMatch(/Found 1 task .*\n.*attempt 1: .*PASS .*=> goal-met/su);
    const again = await scene.json<{ readonly exitCode: number; readonly runs: readonly unknown[] }>('run');
    expect(again).toMatchObject({ exitCode: 0, runs: [] });
    const dry = await scene.gyre('run', '--dry-run');
    expect(dry.code, dry.all).toBe(0);
    await bringDown(scene);
    expect(scene.calls()).toHaveLength(1);
  });

  test('PRC-07 L5 killed with an agent at work, the next daemon adopts it: one call, one landing', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sleep: 4_000 }, fix]]), on: { every: '1s' } });
    await bringUp(scene);
    await until(async () => scene.calls().length === 1);
    process.kill(await daemonPid(scene), 'SIGKILL');
    await bringUp(scene);
    await until(async () => gyreBranches(scene).length === 1);
    await bringDown(scene);
    expect(scene.calls()).toHaveLength(1);
    expect((await runsOf(scene)).map((run) => run.exit?.exit)).toEqual(['goal-met']);
  });

  test('SRV-13 restart leaves the agent at work and the new daemon adopts it', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sleep: 5_000 }, fix]]), on: { every: '1s' } });
    await bringUp(scene);
    const before = await daemonPid(scene);
    await until(async () => scene.calls().length === 1);
    const restarted = await scene.gyre('restart');
    expect(restarted.code, restarted.all).toBe(0);
    expect(await daemonPid(scene)).not.toBe(before);
    await until(async () => gyreBranches(scene).length === 1);
    await bringDown(scene);
    expect(scene.calls()).toHaveLength(1);
  });

  test('SRV-14 down --drain finish lets the run come to its end and begins no other', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sleep: 2_000 }, fix]]), on: { every: '1s' } });
    await bringUp(scene);
    await until(async () => scene.calls().length === 1);
    const down = await scene.gyre('down', '--drain', 'finish');
    expect(down.code, down.all).toBe(0);
    expect(gyreBranches(scene)).toHaveLength(1);
    expect(scene.calls()).toHaveLength(1);
  });

  test('SRV-15 L7 down parks: the agent ends, its work is kept, and the next daemon goes on with the run at once', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ append: 'calc.mjs', text: '// half\n' }, { sleep: 60_000 }], [fix]]) });
    await bringUp(scene);
    const ran = scene.start('run');
    const ended = new Promise((resolve) => ran.once('exit', resolve));
    await until(async () => scene.calls().length === 1);
    await delay(300);
    await bringDown(scene);
    await ended;
    await bringUp(scene);
    await until(async () => gyreBranches(scene).length === 1);
    await bringDown(scene);
    expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('// half');
    expect(scene.calls()).toHaveLength(2);
  });

  test('SRV-16 a changed loop file is used; one that cannot be read changes nothing and is told until it is mended', async () => {
    await using scene = await makeScene({ checkoutStays: false });
    await scene.loop({ agent: scene.agent([[fix]]) });
    await bringUp(scene);
    const file = path.join(scene.repo, '.gyre', 'loops', 'fix.md');
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, good.replace('"goal"', '"gaol"'));
    await until(async () => (await scene.gyre('status')).stdout.includes('gaol'));
    writeFileSync(file, good.replace('"goal"', '"on": { "every": "1s" }, "goal"'));
    await until(async () => gyreBranches(scene).length === 1);
    expect((await scene.gyre('status')).stdout).not.toContain('gaol');
    await bringDown(scene);
  });

  test('SRV-23 L11 a signed webhook starts one tick, however often it is delivered', async () => {
    await using scene = await makeScene();
    scene.env['HOOK'] = 'a secret';
    await scene.loop({ agent: scene.agent([[fix]]), on: { webhook: 'github.push', secret: 'HOOK' } });
    writeFileSync(path.join(scene.repo, 'gyre.yaml'), 'server: { port: 0 }\n');
    scene.settle();
    await bringUp(scene);
    const { daemon } = await scene.json<{ daemon: { webhooks: { host: string; port: number } } }>('status');
    const body = '{"ref":"refs/heads/main"}';
    const deliver = () =>
      fetch(`http://${daemon.webhooks.host}:${daemon.webhooks.port}/hooks/fix`, {
        method: 'POST',
        body,
        headers: {
          'x-github-delivery': 'd-1',
          'x-github-event': 'push',
          'x-hub-signature-256': `sha256=${createHmac('sha256', 'a secret').update(body).digest('hex')}`,
        },
      });
    expect((await deliver()).status).toBe(202);
    expect((await deliver()).status).toBe(409);
    await until(async () => gyreBranches(scene).length === 1);
    await bringDown(scene);
    expect(scene.calls()).toHaveLength(1);
  });

  test('SRV-17 a container ends the foreground daemon with SIGTERM and gets exit code 0', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([]) });
    const daemon = scene.start('up', '--foreground');
    const ended = new Promise<number | null>((resolve) => daemon.once('exit', resolve));
    await until(async () => (await daemonPid(scene).catch(() => 0)) === daemon.pid);
    daemon.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});

describe('what is refused at the start', () => {
  const refusals: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
    ['a bad cron line', { on: { schedule: '61 * * * *' } }, /cron|schedule/i],
    ['an unknown time zone', { on: { schedule: '0 7 * * *', timezone: 'Europe/Berln' } }, /Europe\/Berln/],
    ['an impossible policy', { on: { every: '1m', 'catch-up': 'sometimes' } }, /catch-up/],
  ];
  test.each(refusals)('SRV-18 %s: one sentence, exit code 2, nothing started', async (_what, front, wanted) => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([]), ...front });
    const up = await scene.gyre('up');
    expect(up.code, up.all).toBe(2);
    expect(up.stderr).toMatch(wanted);
    expect(existsSync(path.join(scene.root, 'state', 'gyre'))).toBe(false);
  });

  test('SRV-21 a port that is taken is one sentence, and nothing is left running', async () => {
    await using scene = await makeScene();
    scene.env['HOOK'] = 'a secret';
    await scene.loop({ agent: scene.agent([]), on: { webhook: 'github.push', secret: 'HOOK' } });
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    writeFileSync(path.join(scene.repo, 'gyre.yaml'), `server: { port: ${port} }\n`);
    scene.settle();
    const up = await scene.gyre('up');
    taken.close();
    expect(up.code, up.all).toBe(5);
    expect(up.stderr).toContain(String(port));
    expect(up.stderr).not.toContain('defect');
    expect((await scene.gyre('down')).stdout).toContain('No daemon is at work here.');
  });

  test('SRV-22 a state home that cannot be written is one sentence', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([]) });
    writeFileSync(path.join(scene.root, 'file'), '');
    scene.env['XDG_STATE_HOME'] = path.join(scene.root, 'file');
    for (const args of [['up'], ['up', '--foreground']]) {
      const up = await scene.gyre(...args);
      expect(up.code, up.all).toBe(5);
      expect(up.stderr).toContain('cannot be written');
    }
  });

  test('SRV-27 a fault at work has an exit code of its own, one at the start does not, and the next start goes on', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([]), on: { every: '1s' } });
    const child = scene.start('up', '--foreground');
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until(async () => (await scene.gyre('status')).stdout.includes('Gyre is up'));
    const { stateHome } = await scene.json<{ readonly stateHome: string }>('status');
    // Another engine takes the journal away, as one on another machine would that shares the disk.
    const db = new DatabaseSync(path.join(stateHome, 'journal.sqlite'));
    db.exec('PRAGMA busy_timeout = 10000; UPDATE owner SET epoch = epoch + 1');
    db.close();
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, said).toBe(6);
    expect(said).toContain('The daemon was at work and had to stop: The journal');
    await bringUp(scene);
    expect((await scene.gyre('up', '--foreground')).code).toBe(5);
    await bringDown(scene);
  });

  test('SRV-19 unknown drain policies and times are refused', async () => {
    await using scene: Scene = await makeScene();
    await scene.loop({ agent: scene.agent([]) });
    expect((await scene.gyre('up', '--drain', 'slowly')).stderr).toContain('wanted one of finish, checkpoint, park');
    expect((await scene.gyre('down', '--time', 'soon')).stderr).toContain('wanted a duration');
  });
});
