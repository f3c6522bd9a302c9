import { describe, expect, test } from 'vitest';
import { commitSha } from '../../src/core/ids.ts';
import { checkEnvironment } from '../../src/verify/index.ts';
import { gateWords } from '../../src/verify/command-words.ts';
import { gateKindOf } from '../../src/verify/gate-files.ts';
import { matcher } from '../../src/verify/glob-matcher.ts';
import { graftJson, graftSections } from '../../src/verify/graft.ts';
import { guardDiff, guardGates } from '../../src/verify/guards.ts';
import { planPin } from '../../src/verify/pin-plan.ts';
import { isTestFile, isTestSupport } from '../../src/verify/test-files.ts';
import type { Candidate } from '../../src/workspace/index.ts';

const candidate = (changed: readonly string[], more: Partial<Candidate> = {}): Candidate => ({
  commit: commitSha('2'.repeat(40)),
  tree: 't',
  base: commitSha('1'.repeat(40)),
  changed,
  leftOut: [],
  unfinished: '',
  agentCommits: 0,
  notes: [],
  ...more,
});

const plan = (command: string, changed: readonly string[], onBase: Readonly<Record<string, string>>) =>
  planPin({
    candidate: candidate(changed),
    command,
    prefix: '',
    proof: { by: 'command', command },
    read: async (commit, file) => (commit.startsWith('1') ? onBase[file] : 'x'),
  });

describe('which files define a check', () => {
  const rows: readonly (readonly [command: string, file: string, prefix: string, gate: string])[] = [
    ['./check', 'check', '', 'whole'],
    ['./check', 'sub/check', 'sub', 'whole'],
    ['cd sub && ./check', 'sub/check', '', 'whole'],
    ['./check', 'src/main.js', '', 'none'],
    ['scripts/test.sh --fast', 'scripts/test.sh', '', 'whole'],
    ['bash -e run.sh', 'run.sh', '', 'whole'],
    ['CI=1 env FOO=1 ./gate', 'gate', '', 'whole'],
    ['./fizz 15 | grep -q FizzBuzz', 'fizz', '', 'none'],
    ['./fizz | diff - expected.txt', 'expected.txt', '', 'whole'],
    ['node fizz.js', 'fizz.js', '', 'none'],
    ['node scripts/verify.mjs', 'scripts/verify.mjs', '', 'whole'],
    ['node src/check/index.js', 'src/check/index.js', '', 'none'],
    ['node src/verify.js', 'src/verify.js', '', 'none'],
    ['test "$(./greet)" = hello', 'greet', '', 'none'],
    ['test "`./greet`" = hello', 'greet', '', 'none'],
    ['make test', 'Makefile', '', 'whole'],
    ['make -C sub -f ci.mk test', 'sub/ci.mk', '', 'whole'],
    ['npm run build && make', 'build.mk', '', 'whole'],
    ['cargo test', 'Makefile', '', 'none'],
    ['npm test', 'package.json', '', 'json-keys'],
    ['npx vitest run', 'packages/a/package.json', '', 'json-keys'],
    ['npx vitest run', 'vite.config.ts', '', 'whole'],
    ['npm test', '.npmrc', '', 'whole'],
    ['npm test', 'lib/test-utils.js', '', 'none'],
    ['go test ./...', 'package.json', '', 'none'],
    ['pytest -q', 'pyproject.toml', '', 'sections'],
    ['pytest -c ci.ini', 'ci.ini', '', 'whole'],
    ['python -m pytest', 'setup.cfg', '', 'sections'],
    ['cargo test', 'Cargo.toml', '', 'sections'],
    ['just test', 'justfile', '', 'whole'],
    ['./gradlew test', 'build.gradle.kts', '', 'whole'],
    ['deno task test', 'deno.json', '', 'json-keys'],
  ];
  test.each(rows)('CHT-03 %s and %s (in %j): %s', (command, file, prefix, gate) => {
    expect(gateKindOf([gateWords(command)], file, prefix)?.gate ?? 'none').toBe(gate);
  });

  test('CHT-03 a check that base does not have and the candidate wrote itself is held as absent; a product it was asked to write is not', async () => {
    expect((await plan('./accept', ['accept'], {})).pin?.paths).toEqual(['accept']);
    expect((await plan('./hello', ['hello'], {})).pin).toBeUndefined();
    expect((await plan('./hello', ['hello'], { hello: 'x' })).pin?.paths).toEqual(['hello']);
  });

  test.each([
    ['./check', { check: '#!/bin/sh\n. ./env.sh\nexec node suite.mjs\n', 'env.sh': 'x' }, ['env.sh', 'suite.mjs'], ['env.sh', 'suite.mjs']],
    ['make test', { Makefile: 'include rules.inc\ntest:\n\t$(RUN)\n', 'rules.inc': 'RUN = ./run\n' }, ['rules.inc'], ['rules.inc']],
    ['sh a.sh', { 'a.sh': 'sh b.sh\n', 'b.sh': '. ./c.sh\n', 'c.sh': '. ./a.sh\n' }, ['c.sh'], ['c.sh']],
    ['./check', { check: '#!/bin/sh\n# . ./hello\n./hello\n[ "$(./hello)" = hi ]\n', hello: 'x' }, ['hello'], undefined],
    ['./check', { check: '#!/usr/bin/env node\n. ./lib.js\n', 'lib.js': 'x' }, ['lib.js'], undefined],
  ] as const)(
    'CHT-03 %s: what its scripts take in is a part of it, what they run is the product',
    async (command, onBase, changed, paths) => {
      expect((await plan(command, changed, onBase)).pin?.paths).toEqual(paths);
    },
  );

  test('CHT-05 new tests stay in the pinned run of a command, but new set-up of tests does not', async () => {
    const { pin } = await plan('pytest', ['tests/test_new.py', 'tests/test_old.py', 'conftest.py'], { 'tests/test_old.py': 'x' });
    expect(pin?.paths).toEqual(['tests/test_old.py', 'conftest.py']);
  });

  test('CHT-03 a manifest that no longer parses, or is gone, is held whole', async () => {
    expect((await plan('npm test', ['package.json'], { 'package.json': '{"scripts":{}}' })).pin?.paths).toEqual(['package.json']);
  });

  test('CHT-03 scripts reached through scripts count', async () => {
    const scripts = { test: 'npm run unit', unit: './go', preunit: 'make gen', other: './no' };
    const { gates } = await plan('npm t', ['go', 'gen.mk', 'no'], { 'package.json': JSON.stringify({ scripts }), go: 'x', no: 'x' });
    expect(gates).toEqual(['go', 'gen.mk']);
  });
});

describe('parts of files', () => {
  test("CHT-03 scripts go back to base, dependencies stay the candidate's", () => {
    const base = '{"scripts":{"test":"node --test"}}';
    const graft = graftJson(base, '{"scripts":{"test":"true"},"jest":{},"dependencies":{"a":"1"}}', ['scripts', 'jest']);
    expect(graft.graft === 'text' && JSON.parse(graft.text)).toEqual({ scripts: { test: 'node --test' }, dependencies: { a: '1' } });
    expect(graftJson(base, '{"version":"2","scripts":{"test":"node --test"}}', ['scripts'])).toEqual({ graft: 'same' });
    expect(graftJson(base, '{', ['scripts'])).toEqual({ graft: 'impossible' });
    expect(graftJson(base, '[]', ['scripts'])).toEqual({ graft: 'impossible' });
  });

  test('CHT-03 test sections go back to base, others stay', () => {
    const base = '[project]\nname = "a"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n';
    const changed = '[project]\nname = "b"\n[tool.pytest.ini_options]\naddopts = "-k one"\n[tool.black]\nx = 1\n';
    const graft = graftSections(base, changed, /^\[tool\.pytest/);
    expect(graft).toEqual({
      graft: 'text',
      text: '[project]\nname = "b"\n[tool.black]\nx = 1\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n',
    });
    expect(graftSections(base, base.replace('"a"', '"b"'), /^\[tool\.pytest/)).toEqual({ graft: 'same' });
    expect(graftSections(undefined, base, /^\[tool\.pytest/)).toEqual({ graft: 'text', text: '[project]\nname = "a"\n\n' });
  });
});

describe('globs', () => {
  test('GIT-11 names with dots, spaces, accents, brackets, arrows and line breaks match; case counts', () => {
    const is = matcher(['docs/**', '**/*.test.*']);
    for (const name of ['docs/a -> b', 'docs/.x/y', 'docs/ï/[a].md', 'docs/a\nb', 'docs/a\\b', 'a.test.js', 'x/.y/a.test.ts'])
      expect([name, is(name)]).toEqual([name, true]);
    for (const name of ['Docs/a', 'adocs/b', 'a.TEST.js']) expect([name, is(name)]).toEqual([name, false]);
  });

  test('VRD-40 a folder means all in it, `!` takes away, and nothing matches an empty list', () => {
    expect(['docs', './docs', 'docs/', '/docs'].map((glob) => matcher([glob])('docs/a/b'))).toEqual([true, true, true, true]);
    const is = matcher(['docs', '!docs/free/**']);
    expect([is('docs/a'), is('docs/free/a')]).toEqual([true, false]);
    expect(matcher([])('a')).toBe(false);
    expect(matcher([''])('a')).toBe(false);
    expect(matcher(['!a'])('b')).toBe(false);
  });

  test('VRD-41 tests and their set-up are known by name', () => {
    for (const name of ['test/a.js', 'a/b.test.ts', 'pkg/x_test.go', 'test_x.py', 'src/__tests__/x.js', 'spec/a_spec.rb', 'A/BTest.java'])
      expect(isTestFile(name)).toBe(true);
    for (const name of ['conftest.py', 'a/jest.config.cjs', '.mocharc.json', '__mocks__/fs.js', 'a/b.snap'])
      expect(isTestSupport(name) && isTestFile(name)).toBe(true);
    for (const name of ['src/a.js', 'contest.py', 'latest/a.js', 'attestation.go']) expect(isTestFile(name)).toBe(false);
    expect(isTestSupport('test/a.test.js')).toBe(false);
  });

  test('VRD-42 guards name few paths in the sentence and all in the finding', () => {
    const paths = Array.from({ length: 8 }, (_, i) => `docs/${i}`);
    const [finding] = guardDiff(candidate(paths), ['docs/**']);
    expect(finding?.paths).toEqual(paths);
    expect(finding?.sentence).toMatch(/and 3 more\.$/);
    expect(guardDiff(candidate(['a']), [])).toEqual([]);
    expect(guardGates([])).toEqual([]);
  });
});

describe('environment', () => {
  test('VER-09 only what is allowed gets in, and the check has the last word', () => {
    const env = {
      PATH: '/x/node_modules/.bin:/usr/bin:/y/node_modules/node/bin',
      HOME: '/h',
      LC_ALL: 'C',
      TZ: 'UTC',
      JAVA_HOME: '/j',
      TERM: 'xterm',
      GIT_DIR: 'x',
      GYRE_HOME: 'x',
      NODE_OPTIONS: 'x',
      npm_lifecycle_event: 'x',
      API_TOKEN: 'x',
      LC_X_SECRET: 'x',
      UNSET: undefined,
      https_proxy: 'http://p:1',
      HTTP_PROXY: 'http://me:secret@p:1',
    };
    expect(checkEnvironment(env, { CI: '0', MINE: 'm' })).toEqual({
      PATH: '/usr/bin:/y/node_modules/node/bin',
      HOME: '/h',
      LC_ALL: 'C',
      TZ: 'UTC',
      JAVA_HOME: '/j',
      TERM: 'dumb',
      CI: '0',
      MINE: 'm',
      https_proxy: 'http://p:1',
    });
    expect(checkEnvironment({}, {})).toEqual({ TERM: 'dumb', CI: 'true' });
  });
});
