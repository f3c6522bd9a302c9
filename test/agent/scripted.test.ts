import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentRequest } from '../../src/agent/index.ts';
import { fits } from '../../src/agent/pick-entry.ts';
import { parseScript } from '../../src/agent/script-format.ts';
import type { AgentRunResult } from '../../src/core/agent-result.ts';
import { Rejection } from '../../src/core/fault.ts';
import { runAgent } from './run-spec.ts';
import { World } from './world.ts';

const run = promisify(execFile);

const perform = async (
  world: World,
  script: string,
  how: { readonly request?: Partial<AgentRequest>; readonly prompt?: string } = {},
): Promise<AgentRunResult> => {
  await world.write('script.yaml', script);
  const adapter = world.agent({ use: 'scripted', script: 'script.yaml' });
  return runAgent({ adapter, request: await world.request(how.request, how.prompt), dir: world.job });
};

const file = (world: World, name: string): string => path.join(world.workspace, name);

describe('the scripted agent', () => {
  it('AGT-60 performs the steps of the first entry that fits, in order', async () => {
    await using world = await World.open();
    await writeFile(file(world, 'add.js'), 'export const add = (a, b) => a - b; // $& stays\n');
    await writeFile(file(world, 'old.txt'), 'old');
    const result = await perform(
      world,
      `
entries:
  - when: { task: "lint:*" }
    steps: [{ exit: 1 }]
  - when: { task: "test:*", title: "adds *", attempt: 1, prompt: green }
    steps:
      - print: Looking.
      - edit: { file: add.js, find: a - b, replace: "a + b /* $& */" }
      - write: { file: deep/er/größe.txt, text: "fertig\\n" }
      - delete: old.txt
      - sleep: 5ms
      - run: 'printf "%s" "$GYRE_TASK" > task.txt; echo from the shell'
      - exit: 0
      - print: never
`,
    );
    expect(result).toMatchObject({ result: { outcome: 'completed' }, text: 'Looking.\nfrom the shell', stderrTail: '' });
    expect(await readFile(file(world, 'add.js'), 'utf8')).toBe('export const add = (a, b) => a + b /* $& */; // $& stays\n');
    expect(await readFile(file(world, 'deep/er/größe.txt'), 'utf8')).toBe('fertig\n');
    expect(await readFile(file(world, 'task.txt'), 'utf8')).toBe('test:src/add.test.js > adds');
    expect((await readdir(world.workspace)).toSorted()).toEqual(['add.js', 'deep', 'task.txt']);
  });

  it('L8 it calls no model and says so: spend 0, and its label names it', async () => {
    await using world = await World.open();
    const result = await perform(world, 'entries: [{ steps: [{ print: hi }] }]');
    expect(result).toMatchObject({ usageSource: 'no-model', spend: { usd: 0, tokens: 0 }, agent: { channel: 'scripted' } });
    expect(world.agent({ use: 'scripted', script: 'script.yaml' }).label).toBe('scripted (no model)');
  });

  it('CLM-03 a prompt without the wanted evidence ends it with 9 and the missing words; with them it goes on', async () => {
    await using world = await World.open();
    const script = 'entries: [{ steps: [{ expect-prompt: { contains: "expected 3, got -1" } }, { write: { file: seen.txt, text: x } }] }]';
    const lacking = await perform(world, script);
    expect(lacking.process.exitCode).toBe(9);
    expect(lacking.result).toMatchObject({ outcome: 'failed', error: { message: 'The prompt does not contain "expected 3, got -1".' } });
    expect(await readdir(world.workspace)).toEqual([]);
    const fed = await perform(world, script, { prompt: 'Last time: expected 3, got -1\n' });
    expect(fed.result).toEqual({ outcome: 'completed' });
  });

  it('AGT-61 attempts are told apart by number and by "2+"', async () => {
    await using world = await World.open();
    const script =
      'entries:\n  - { when: { attempt: 1 }, steps: [{ print: first }] }\n  - { when: { attempt: "2+" }, steps: [{ print: later }] }\n';
    const texts: string[] = [];
    for (const attempt of [1, 2, 12]) texts.push((await perform(world, script, { request: { attempt } })).text);
    expect(texts).toEqual(['first', 'later', 'later']);
  });

  it.each([
    ['{ edit: { file: a.txt, find: two, replace: x } }', 'holds the text to find 2 times'],
    ['{ edit: { file: a.txt, find: none, replace: x } }', 'holds the text to find 0 times'],
    ['{ edit: { file: b.txt, find: x, replace: y } }', 'b.txt cannot be read'],
    ['{ write: { file: ../out.txt, text: x } }', 'no file inside the workspace'],
    ['{ write: { file: /tmp/gyre-out.txt, text: x } }', 'no file inside the workspace'],
    ['{ delete: . }', 'no file inside the workspace'],
    ['{ delete: b.txt }', 'cannot be deleted'],
    ['{ run: "exit 4" }', 'ended with exit code 4'],
    ['{ commit: nothing }', 'failed with exit code'],
  ])('AGT-62 a step that fails ends it with 8 and a sentence: %s', async (step, sentence) => {
    await using world = await World.open();
    await writeFile(file(world, 'a.txt'), 'two two');
    const result = await perform(world, `entries: [{ steps: [${step}, { write: { file: after.txt, text: x } }] }]`);
    expect(result.process.exitCode).toBe(8);
    expect(result.result).toMatchObject({
      outcome: 'failed',
      error: { class: 'unknown', message: expect.stringContaining(sentence) as string },
    });
    expect(await readdir(world.workspace)).toEqual(['a.txt']);
  });

  it('AGT-63 `exit` ends it with that code', async () => {
    await using world = await World.open();
    const result = await perform(world, 'entries: [{ steps: [{ exit: 7 }] }]');
    expect(result.process.exitCode).toBe(7);
    expect(result.result.outcome).toBe('failed');
  });

  it('AGT-64 `commit` commits all changes, also where no author is configured', async () => {
    await using world = await World.open();
    const home = { ...process.env, HOME: path.join(world.dir, 'home'), GIT_CONFIG_NOSYSTEM: '1' };
    const git = (...args: readonly string[]) => run('git', args, { cwd: world.workspace, env: home });
    await git('init', '--quiet');
    const result = await perform(world, 'entries: [{ steps: [{ write: { file: a b.txt, text: x } }, { commit: "Fix: it\'s done" }] }]');
    expect(result.result).toEqual({ outcome: 'completed' });
    expect((await git('log', '--format=%s')).stdout).toBe("Fix: it's done\n");
    expect((await git('status', '--porcelain')).stdout).toBe('');
  });

  it('AGT-65 a task that no entry is for is a fault of the script, not of the work', async () => {
    await using world = await World.open();
    const result = await perform(world, 'entries: [{ when: { task: other }, steps: [{ exit: 0 }] }]');
    expect(result.result).toMatchObject({ outcome: 'failed', error: { class: 'config', retryable: false } });
    expect(result.stderrTail).toContain('No entry of the script');
  });

  it('AGT-66 a script that is not valid changes nothing and names file, line and key', async () => {
    await using world = await World.open();
    const result = await perform(world, 'entries:\n  - steps:\n      - write: { file: a.txt, text: x }\n      - print: 3\n');
    expect(result.result).toMatchObject({ outcome: 'failed', error: { class: 'config' } });
    expect(result.stderrTail).toContain('script.yaml:4 entries[0].steps[1].print: found 3');
    expect(await readdir(world.workspace)).toEqual([]);
    const probe = await world.agent({ use: 'scripted', script: 'script.yaml' }).probe();
    expect(probe.problem).toContain('Line 4, entries[0].steps[1].print');
  });
});

const issuesOf = (text: string): readonly string[] => {
  try {
    parseScript(text, 's.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return error.issues.map((issue) => `${issue.origin.line ?? '?'} ${issue.key}: ${issue.found} / ${issue.wanted}`);
  }
};

describe('the format of a script', () => {
  it.each([
    ['entries: []', /^1 entries: \[\] /],
    ['entries:\n  - steps: []', /^2 entries\[0\]\.steps: \[\] /],
    ['entries:\n  - steps:\n      - wirte: { file: a }', /^3 entries\[0\]\.steps\[0\]: .*wirte.* one step of: edit, write, delete, run/],
    ['entries:\n  - steps:\n      - { print: a, exit: 0 }', /^3 entries\[0\]\.steps\[0\]: .*one step of/],
    ['entries:\n  - steps:\n      - edit: { file: a, find: b }', /^3 entries\[0\]\.steps\[0\]\.edit\.replace: nothing/],
    ['entries:\n  - steps:\n      - sleep: soon', /^3 entries\[0\]\.steps\[0\]\.sleep: "soon" \/ a duration/],
    ['entries:\n  - steps:\n      - sleep: 25h', /at most 24h/],
    ['entries:\n  - when: { attempt: 0 }\n    steps: [{ exit: 0 }]', /^2 entries\[0\]\.when\.attempt: 0/],
    ['entries:\n  - wen: {}\n    steps: [{ exit: 0 }]', /wen/],
    ['entries: [', /^1 : .*valid YAML/],
    ['a: 1\na: 2', /^2 : .*valid YAML/],
    ['', /nothing|null/],
  ])('AGT-67 %j is refused with its place', (text, wanted) => {
    expect(issuesOf(text).join('\n')).toMatch(wanted);
  });

  it.each([
    ['aba', 'ab*ba', false],
    ['abba', 'ab*ba', true],
    ['a', 'a*a', false],
    ['', '*', true],
    ['test:src/a.js > adds', '*> adds', true],
    ['axb', 'a*x*xb', false],
  ])('AGT-68 %j fits the pattern %j: %j', (text, pattern, wanted) => {
    expect(fits(text, pattern)).toBe(wanted);
  });

  it('AGT-68 a `*` stands for any letters, also none, as often as it is there', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.', '/'), maxLength: 8 });
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '.', '/'), maxLength: 8 }), letters, (text, pattern) => {
        const expression = pattern
          .split('*')
          .map((part) => part.replace(/[./]/g, '\\$&'))
          .join('.*');
        expect(fits(text, pattern)).toBe(new RegExp(`^${expression}$`).test(text));
      }),
      { numRuns: 2000 },
    );
  });
});
