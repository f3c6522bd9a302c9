import { describe, expect, test } from 'vitest';
import { fix, makeScene, seedFiles } from '../testkit/scene.ts';
import { attemptsOf, lastRun } from './support.ts';

describe('field reports: stop rules', () => {
  test('STP-01 an agent that commits each part and leaves a clean tree makes progress', async () => {
    await using scene = await makeScene({
      files: { check: '#!/bin/sh\nfor part in 1 2 3; do test -f part$part || { echo "part $part is missing"; exit 1; }; done\n' },
    });
    const part = (n: number) => [{ write: `part${n}`, text: `${n}\n` }, { sh: `git add -A && git commit -qm "part ${n}"` }];
    await scene.loop({ agent: scene.agent([part(1), part(2), part(3)]), stop: { 'no-progress': 2 } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()).toHaveLength(3);
    const attempts = await attemptsOf(scene, (await lastRun(scene)).run);
    expect(new Set(attempts.map(({ candidate }) => candidate)).size).toBe(3);
  });

  test('STP-03 the same failure under cosmetic edits ends after three attempts, with the failure named', async () => {
    await using scene = await makeScene({
      files: {
        ...seedFiles,
        check:
          '#!/bin/sh\necho "at $(mktemp -u /tmp/run.XXXXXX)/calc.mjs:$(( $$ % 90 + 1 )):3 after $(( $$ % 700 )) ms"\necho "AssertionError: expected 5, got -1"\nexit 1\n',
      },
    });
    const edits = Array.from({ length: 20 }, (_, n) => [{ append: 'calc.mjs', text: `// thought ${n}\n` }]);
    await scene.loop({ agent: scene.agent(edits), stop: { attempts: 20, 'same-failure': 3, 'no-progress': 9 } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(3);
    expect(scene.calls()).toHaveLength(3);
    expect((await lastRun(scene)).exit?.why).toMatch(/Same failure 3 times.*expected 5, got -1/s);
  });

  test('STP-05 an agent whose context is always too small gets ever smaller prompts, and the run parks with the cause', async () => {
    await using scene = await makeScene({
      files: { ...seedFiles, check: '#!/bin/sh\nseq 1 4000\necho "expected 5, got -1"\nexit 1\n' },
    });
    const overflow = { event: { type: 'result', is_error: true, terminal_reason: 'prompt_too_long', result: 'Prompt is too long' } };
    await scene.loop({ agent: scene.agent([[overflow, { exit: 1 }]], 'repeat'), stop: { attempts: 9 } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(3);
    const calls = scene.calls();
    expect(calls.length).toBeGreaterThan(1);
    expect(calls.length).toBeLessThanOrEqual(3);
    const sizes = calls.map((call) => call.promptBytes ?? 0);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(new Set(calls.map((call) => call.promptSha256)).size).toBe(calls.length);
    expect((await lastRun(scene)).exit?.why).toContain('context');
  });

  test('STP-07 a plain retry at a used-up limit makes no call and names it; a raised limit goes on', async () => {
    await using scene = await makeScene();
    const idea = (n: number) => [{ append: 'calc.mjs', text: `export const idea${n} = ${n};\n` }];
    await scene.loop({ agent: scene.agent([idea(1), idea(2), idea(3), [fix]]), stop: { attempts: 2, 'same-failure': 9 } });
    expect((await scene.gyre('run')).code).toBe(4);
    const { run } = await lastRun(scene);

    const plain = await scene.gyre('retry', run);
    expect(plain.code).toBe(4);
    expect(plain.all).toContain('Raise stop.attempts above 2');
    expect(scene.calls()).toHaveLength(2);

    const raised = await scene.gyre('retry', run, '--attempts', '4');
    expect(raised.code, raised.all).toBe(0);
    expect(scene.calls()).toHaveLength(4);
  });
});
