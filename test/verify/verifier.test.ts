import { describe, expect, test } from 'vitest';
import type { TaskProof } from '../../src/core/task.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { canonicalJson } from '../../src/verify/canonical-json.ts';
import { check, makeWorld } from './support.ts';

const command = 'node --test --test-reporter=tap';
const testText = (expected: number): string => `import test from 'node:test';
import assert from 'node:assert/strict';
import { add, sub } from '../src/calc.mjs';
test('adds', () => assert.equal(add(2, 2), ${expected}));
test('subtracts', () => assert.equal(sub(2, 2), 0));
`;
const source = (add: string, sub = 'a - b'): string => `export const add = (a, b) => ${add};\nexport const sub = (a, b) => ${sub};\n`;
const files = { 'src/calc.mjs': source('a - b'), 'test/calc.test.mjs': testText(4) };
const repair = { 'src/calc.mjs': source('a + b') };
const adds: TaskProof = { by: 'test', command, test: 'adds', file: 'test/calc.test.mjs' };

const kinds = (verdict: Verdict): readonly string[] => (verdict.verdict === 'pass' ? [] : verdict.reasons.map((reason) => reason.kind));
const sentences = (verdict: Verdict): string =>
  [
    ...verdict.notes,
    ...(verdict.verdict === 'pass' ? [] : verdict.reasons.map((reason) => reason.sentence)),
    ...(verdict.verdict === 'inconclusive' ? verdict.why : []),
  ].join('\n');

describe('a test to repair', () => {
  test('L1 L3 a repair passes, its record is evidence, and nothing is left behind', async () => {
    await using world = await makeWorld(files, process.env, 2);
    const candidate = await world.candidate(repair, {
      notes: ['The agent switched branches.'],
      leftOut: [{ path: 'big.bin', why: 'too large' }],
    });
    const { record, evidence } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(record.verdict).toEqual({
      verdict: 'pass',
      notes: ['Left out of the candidate: "big.bin" (too large).', 'The agent switched branches.'],
    });
    const [one] = record.checks;
    expect(one?.base.runs.map((run) => run.exitCode)).toEqual([1, 1]);
    expect(one?.candidate.exitCode).toBe(0);
    expect(one?.pinned).toBeUndefined();
    const kept = (await world.evidence.get(evidence)).toString('utf8');
    expect(kept).toBe(canonicalJson(record));
    expect(JSON.parse(kept)).toMatchObject({ base: world.base, candidate: candidate.commit, tools: { node: process.version } });
    expect((await world.evidence.get(one?.candidate.outputHash ?? ('' as never))).toString('utf8')).toContain('ok 1 - adds');
    expect(await world.leftovers()).toEqual([]);
  });

  test('L3 work that breaks its neighbour fails and names it', async () => {
    await using world = await makeWorld(files);
    const candidate = await world.candidate({ 'src/calc.mjs': source('a + b', 'a + b') });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(record.verdict).toMatchObject({ verdict: 'fail', reasons: [{ kind: 'newly-failing', failing: ['subtracts'] }] });
  });

  test('CLM-03 EXT-01 an attempt that changed nothing fails, and the next one is told what is red', async () => {
    await using world = await makeWorld(files);
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate: await world.candidate({}) });
    expect(kinds(record.verdict)).toEqual(['empty-change', 'task-still-red']);
    expect(record.verdict.verdict === 'fail' && record.verdict.reasons[1]?.evidence).toContain('not ok 1 - adds');
  });

  test('EXT-01 an empty change is no pass where all checks are green on base', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const { record } = await world.verify({ proof: { by: 'checks' }, checks: [check('true')], candidate: await world.candidate({}) });
    expect(kinds(record.verdict)).toEqual(['empty-change']);
  });

  test('CLM-05 half an edit is an honest failure, and no cheat', async () => {
    await using world = await makeWorld(files);
    const candidate = await world.candidate({ 'src/calc.mjs': 'export const add = (a, b) => {' });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(record.verdict.verdict).toBe('fail');
    expect(kinds(record.verdict)).not.toContain('cheat');
  });

  test('VRD-10 a half-done git operation and outside findings refuse', async () => {
    await using world = await makeWorld(files);
    const candidate = await world.candidate(repair, { unfinished: 'rebase' });
    const findings = [{ guard: 'moved-refs', weight: 'refuse', paths: [], sentence: 'main was moved.' }] as const;
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate, findings });
    expect(kinds(record.verdict)).toEqual(['unfinished', 'cheat']);
  });

  test('VRD-11 the task is proven by its own command where the checks of the loop are others', async () => {
    await using world = await makeWorld(files);
    const { record } = await world.verify({
      proof: adds,
      checks: [check('true', { name: 'lint' })],
      candidate: await world.candidate(repair),
    });
    expect(record.verdict.verdict).toBe('pass');
    expect(record.checks.map((one) => one.command)).toEqual([command, 'true']);
  });

  test('VRD-12 a cancelled verification gives no verdict', async () => {
    await using world = await makeWorld(files);
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    const candidate = await world.candidate(repair);
    await expect(world.verify({ proof: adds, checks: [check(command)], candidate, signal: stop.signal })).rejects.toThrow('stopped');
  });
});

const manifest = (script: string, more: object = {}): string => JSON.stringify({ name: 'x', scripts: { test: script }, ...more });

const gate = (name: string, base: Record<string, string>, run: string, changes: Record<string, string>): void => {
  test(`CHT-03 ${name} rewritten to be green is refused`, async () => {
    await using world = await makeWorld({ 'src/calc.mjs': source('a - b'), 'unit/calc.mjs': testText(4), ...base });
    const candidate = await world.candidate(changes);
    const { record } = await world.verify({ proof: { by: 'command', command: run }, checks: [check(run)], candidate });
    expect(record.checks[0]?.candidate.exitCode).toBe(0);
    expect(kinds(record.verdict)).toEqual(['cheat']);
    expect(sentences(record.verdict)).toContain('Files that define a check were changed');
    expect(record.gateFiles.map((file) => file.path)).toEqual(Object.keys(changes));
  });
};

describe('cheats with protect: []', () => {
  test('CHT-01 L1 an edited expectation is green as committed, red when pinned, and refused', async () => {
    await using world = await makeWorld(files);
    const candidate = await world.candidate({ 'test/calc.test.mjs': testText(0) });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(record.checks[0]?.candidate.exitCode).toBe(0);
    expect(kinds(record.verdict)).toEqual(['cheat']);
    expect(sentences(record.verdict)).toContain('test/calc.test.mjs');
  });

  test('CHT-01 a skipped test is refused', async () => {
    await using world = await makeWorld(files);
    const candidate = await world.candidate({ 'test/calc.test.mjs': testText(4).replace("test('adds'", "test.skip('adds'") });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(kinds(record.verdict)).toEqual(['cheat']);
  });

  test('CHT-01 a deleted test is refused', async () => {
    await using world = await makeWorld(files);
    const candidate = await world.candidate({ 'test/calc.test.mjs': undefined, 'test/other.test.mjs': "import 'node:test';\n" });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(record.verdict.verdict).not.toBe('pass');
  });

  test('CHT-01 new tests beside a real repair are welcome', async () => {
    await using world = await makeWorld(files);
    const more = testText(4).replaceAll('adds', 'adds again').replaceAll('subtracts', 'subtracts again');
    const candidate = await world.candidate({ ...repair, 'test/more.test.mjs': more });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(record.verdict.verdict).toBe('pass');
    expect(record.checks[0]?.pinnedFiles).toEqual(['test/more.test.mjs']);
  });

  test('CHT-01 an honest failure that also edits tests is not called a cheat', async () => {
    await using world = await makeWorld(files);
    const candidate = await world.candidate({ 'test/calc.test.mjs': testText(5) });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate });
    expect(kinds(record.verdict)).toEqual(['task-still-red']);
  });

  test('VER-01 a renamed test file gives "0 tests, baseline 2"', async () => {
    await using world = await makeWorld(files);
    // A runner that finds nothing and is content.
    const lenient = `if ls test/*.test.mjs >/dev/null 2>&1; then ${command}; else echo '0 passed'; fi`;
    const candidate = await world.candidate({ 'test/calc.test.mjs': undefined, 'test/calc.mjs': testText(4) });
    const { record } = await world.verify({ proof: { ...adds, command: lenient }, checks: [check(lenient)], candidate });
    expect(record.verdict.verdict).toBe('inconclusive');
    expect(sentences(record.verdict)).toContain('0 tests, baseline 2');
  });

  gate('a make target', { Makefile: 'test:\n\tnode unit/calc.mjs\n' }, 'make test', { Makefile: 'test:\n\ttrue\n' });
  gate('./check', { check: '#!/bin/sh\nexec node unit/calc.mjs\n' }, './check', { check: '#!/bin/sh\nexit 0\n' });
  gate('a package script', { 'package.json': manifest('node unit/calc.mjs') }, 'npm test', { 'package.json': manifest('true') });
  gate(
    'a script behind a package script',
    { 'package.json': manifest('sh ci/run.sh'), 'ci/run.sh': 'exec node unit/calc.mjs\n' },
    'npm test',
    {
      'ci/run.sh': 'exit 0\n',
    },
  );
  gate('a pre script', { 'package.json': manifest('node unit/calc.mjs') }, 'npm test', {
    'package.json': JSON.stringify({
      name: 'x',
      scripts: { pretest: 'echo "process.exit(0)" > unit/calc.mjs', test: 'node unit/calc.mjs' },
    }),
  });

  test('CHT-03 other changes of package.json are work, and need no pinned run', async () => {
    await using world = await makeWorld({ ...files, 'package.json': manifest(command) });
    const candidate = await world.candidate({ ...repair, 'package.json': manifest(command, { version: '2.0.0' }) });
    const { record } = await world.verify({
      proof: { by: 'command', command: 'npm test --silent' },
      checks: [check('npm test --silent')],
      candidate,
    });
    expect(record.verdict.verdict).toBe('pass');
    expect(record.checks[0]?.pinned).toBeUndefined();
  });

  test('CHT-03 a new script beside an unchanged one passes: only the scripts stand as on base', async () => {
    await using world = await makeWorld({ ...files, 'package.json': manifest(command) });
    const changed = JSON.stringify({ name: 'x', version: '2.0.0', scripts: { test: command, extra: 'true' } });
    const candidate = await world.candidate({ ...repair, 'package.json': changed });
    const { record } = await world.verify({
      proof: { by: 'command', command: 'npm test --silent' },
      checks: [check('npm test --silent')],
      candidate,
    });
    expect(record.verdict.verdict).toBe('pass');
    expect(record.checks[0]?.pinnedFiles).toEqual(['package.json']);
    expect(sentences(record.verdict)).toContain('"package.json"');
  });

  test('CHT-03 a product run by the check is repaired, not gamed', async () => {
    const run = 'node fizz.mjs | grep -qx FizzBuzz';
    await using world = await makeWorld({ 'fizz.mjs': 'console.log("Fizz")\n' });
    const candidate = await world.candidate({ 'fizz.mjs': 'console.log("FizzBuzz")\n' });
    const { record } = await world.verify({ proof: { by: 'command', command: run }, checks: [check(run)], candidate });
    expect(record.verdict).toEqual({ verdict: 'pass', notes: [] });
  });
});

describe('protected files', () => {
  test('GIT-11 exact names with accents, arrows, quotes and line breaks fire the guard', async () => {
    await using world = await makeWorld({ ...files, 'a.txt': 'text that is long enough to be seen as renamed\n' });
    const names = ['docs/a -> b.txt', 'docs/naïve file.md', 'docs/q"uote.md', 'docs/line\nbreak.md', 'docs/.hidden'];
    const added = Object.fromEntries(names.map((name) => [name, 'text that is long enough to be seen as renamed\n']));
    const candidate = await world.candidate({ ...repair, ...added, 'a.txt': undefined });
    const { record } = await world.verify({ proof: adds, checks: [check(command)], candidate, protect: ['docs/**'] });
    expect(kinds(record.verdict)).toEqual(['cheat']);
    expect([...(record.guards[0]?.paths ?? [])].toSorted()).toEqual(names.toSorted());
  });
});
