import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fix, makeScene, seedFiles, waitFor } from '../testkit/scene.ts';
import { attemptsOf, lastRun } from './support.ts';

describe('field reports: output and text', () => {
  test('OUT-01 letters cut between two reads arrive whole, and the event counts once', async () => {
    await using scene = await makeScene();
    const event = JSON.stringify({ type: 'result', is_error: false, result: 'né 🙂 ünïcode', cost_usd: 0.5 });
    await scene.loop({ agent: scene.agent([[fix, { slow: event, pauseMs: 20 }]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const [attempt] = await attemptsOf(scene, (await lastRun(scene)).run);
    expect(attempt?.agent?.text).toBe('né 🙂 ünïcode');
    expect(attempt?.agent?.spend.usd).toBe(0.5);
  });

  test('OUT-03 a flood is kept within its cap with head and tail, and the engine stays small', async () => {
    await using scene = await makeScene();
    const last = { event: { type: 'result', is_error: false, result: 'after the flood' } };
    await scene.loop({ agent: scene.agent([[{ print: 'FIRST LINE' }, { flood: 4_000 }, fix, last]]), stop: { output: '2mb' } });
    const engine = scene.start('run');
    let mostKb = 0;
    const ended = new Promise<number | null>((resolve) => engine.once('exit', resolve));
    const { readFileSync } = await import('node:fs');
    const watch = setInterval(() => {
      try {
        mostKb = Math.max(mostKb, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${engine.pid}/status`, 'utf8'))?.[1] ?? 0));
      } catch {
        // The engine has ended.
      }
    }, 100);
    expect(await ended).toBe(0);
    clearInterval(watch);
    expect(mostKb).toBeLessThan(300 * 1024);
    const [attempt] = await attemptsOf(scene, (await lastRun(scene)).run);
    const kept = attempt?.agent?.stdout;
    expect(kept?.cut).toBe(true);
    expect(kept?.bytesSeen).toBeGreaterThan(10_000_000);
    expect(statSync(kept?.path ?? '').size).toBeLessThanOrEqual(3_000_000);
    const text = readFileSync(kept?.path ?? '', 'utf8');
    expect(text).toContain('FIRST LINE');
    expect(text).toContain('after the flood');
    expect(text).toMatch(/cut/);
  });

  test('OUT-05 every byte there is, from agent and check, breaks neither journal nor verdict', async () => {
    const all = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
      Buffer.from([0x80, 0xbf, 0, 0xef, 0xbb, 0xbf, 0xc3]),
    ]);
    await using scene = await makeScene({
      files: {
        ...seedFiles,
        'bytes.bin.mjs': `process.stdout.write(Buffer.from('${all.toString('base64')}', 'base64'));\n`,
        check: seedFiles.check.replace('exec node', 'node bytes.bin.mjs; exec node'),
      },
    });
    await scene.loop({ agent: scene.agent([[{ printBytes: all.toString('base64') }], [{ printBytes: all.toString('base64') }, fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const exported = await scene.gyre('journal', 'export');
    expect(exported.stdout.isWellFormed()).toBe(true);
    for (const line of exported.stdout.split('\n').filter((text) => text !== '')) expect(() => JSON.parse(line) as unknown).not.toThrow();
    const shown = await scene.gyre('show', (await lastRun(scene)).run);
    // oxlint-disable-next-line no-control-regex
    expect(shown.stdout).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
    await waitFor('the log can be read', async () => (await scene.gyre('logs', (await lastRun(scene)).run)).code === 0);
  });

  test('OUT-07 words that sound like errors count for nothing', async () => {
    await using scene = await makeScene();
    const words = [
      '"is_error": false',
      '0 errors',
      'error handling added',
      'Error: boom\n    at file.js:1:1',
      '5-hour limit reached, try again later',
    ];
    await scene.loop({ agent: scene.agent([[...words.map((print) => ({ print })), fix, ...words.map((print) => ({ print }))]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const [attempt] = await attemptsOf(scene, (await lastRun(scene)).run);
    expect(attempt?.record.agentOutcome).toBe('completed');
  });

  test('OUT-07 six rounds of six parts with such words end well', async () => {
    await using scene = await makeScene({
      files: { check: '#!/bin/sh\nfor part in 1 2 3 4 5 6; do test -f part$part || { echo "part $part is missing"; exit 1; }; done\n' },
    });
    const rounds = [1, 2, 3, 4, 5, 6].map((n) => [
      { print: '{"is_error": false} 0 errors, 1 fatal error in the log I read' },
      { write: `part${n}`, text: 'x' },
    ]);
    await scene.loop({ agent: scene.agent(rounds), stop: { attempts: 6, 'same-failure': 9 } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()).toHaveLength(6);
  });
});
