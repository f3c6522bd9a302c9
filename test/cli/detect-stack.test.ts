import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { detectStack, type Stack } from '../../src/cli/init/detect-stack.ts';
import { readTestReport } from '../../src/verify/reports/index.ts';
import { outcomes } from '../reports/read-fixture.ts';

type Files = Readonly<Record<string, string>>;

const detect = (files: Files): Stack | undefined => detectStack({ names: new Set(Object.keys(files)), text: (name) => files[name] });

const scripts = (script: string, more: object = {}): Files => ({ 'package.json': JSON.stringify({ scripts: { test: script }, ...more }) });
const packages = { devDependencies: { vitest: '^5.0.0' } };

const pytest = 'python3 -m pytest -rA --continue-on-collection-errors';

const rows: readonly (readonly [fact: string, files: Files, test: string | undefined, setup?: string])[] = [
  ['node --test, no packages', scripts('node --test'), 'npm test'],
  ['node --test with a lock', { ...scripts('node --test', packages), 'package-lock.json': '' }, 'npm test', 'npm ci'],
  ['packages without a lock', scripts('node --test', packages), 'npm test', 'npm install --no-audit --no-fund'],
  ['pnpm', { ...scripts('node --test', packages), 'pnpm-lock.yaml': '' }, 'pnpm test', 'pnpm install --frozen-lockfile'],
  ['yarn', { ...scripts('node --test', packages), 'yarn.lock': '' }, 'yarn test', 'yarn install --frozen-lockfile'],
  ['bun', { ...scripts('node --test', packages), 'bun.lock': '' }, 'bun run test', 'bun install --frozen-lockfile'],
  ['bun of old', { ...scripts('node --test', packages), 'bun.lockb': '' }, 'bun run test', 'bun install --frozen-lockfile'],
  ['vitest', scripts('vitest'), 'npm test -- --run --reporter=tap'],
  ['vitest with its own settings', scripts('CI=1 vitest run --config v.ts'), 'npm test -- --run --reporter=tap'],
  ['vitest with pnpm', { ...scripts('vitest run'), 'pnpm-lock.yaml': '' }, 'pnpm test --run --reporter=tap'],
  ['vitest behind another command', scripts('tsc && vitest run'), 'npx vitest run --reporter=tap'],
  ['vitest with a reporter of its own', scripts('vitest run --reporter=dot'), 'npx vitest run --reporter=tap'],
  ['vitest behind another command, with yarn', { ...scripts('tsc && vitest run'), 'yarn.lock': '' }, 'yarn vitest run --reporter=tap'],
  ['jest', scripts('jest'), 'npm test -- --json'],
  ['jest with yarn', { ...scripts('jest --coverage'), 'yarn.lock': '' }, 'yarn test --json'],
  ['jest behind another command', { ...scripts('lint; jest'), 'bun.lock': '' }, 'bunx jest --json'],
  ['mocha', scripts('mocha test'), 'npm test -- --reporter=tap'],
  ['mocha with a reporter of its own', scripts('mocha -R dot'), 'npx mocha --reporter=tap'],
  ['a script that only sounds like jest', scripts('node jester.js'), 'npm test'],
  ["npm's placeholder", scripts('echo "Error: no test specified" && exit 1'), undefined],
  ["npm's placeholder beside a Makefile", { ...scripts('echo "no test specified"'), Makefile: 'test:\n\ttrue\n' }, 'make test'],
  ['no test script', { 'package.json': '{}' }, undefined],
  ['a broken package.json', { 'package.json': '{' }, undefined],
  ['pytest by its file', { 'pytest.ini': '' }, pytest],
  ['pytest by the project file', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }, pytest],
  ['pytest by its folder', { 'setup.py': '', tests: '' }, pytest],
  ['unittest', { 'setup.py': '' }, 'python3 -m unittest'],
  ['Go', { 'go.mod': '' }, 'go test -json ./...'],
  ['Rust', { 'Cargo.toml': '' }, 'cargo test --no-fail-fast'],
  ['Maven', { 'pom.xml': '' }, "mvn -q -B -fae test; code=$?; find . -path '*/surefire-reports/TEST-*.xml' -exec cat {} +; exit $code"],
  ['Gradle', { gradlew: '' }, "./gradlew test --continue; code=$?; find . -path '*/test-results/*/TEST-*.xml' -exec cat {} +; exit $code"],
  ['make', { Makefile: 'all:\n\ntest: all\n\t./run\n' }, 'make test'],
  ['a Makefile without tests', { Makefile: 'testing:\n\ttrue\n' }, undefined],
  ['nothing', { 'README.md': '' }, undefined],
];

const asked = rows.map(([fact, files, command, setup]) => ({ fact, files, command, setup }));

test.each(asked)('CLI-20 init proposes a command for $fact', ({ files, command, setup }) => {
  const stack = detect(files);
  expect(stack?.test).toBe(command);
  expect(stack?.setup).toBe(setup);
});

describe('what init proposes is read', () => {
  test('CLI-21 vitest prints the proposed report on standard output', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'gyre vitest é-'));
    try {
      await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), path.join(folder, 'node_modules'));
      await mkdir(path.join(folder, 'test'));
      await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts: { test: 'vitest' } }));
      await writeFile(path.join(folder, 'test', 'broken.test.js'), "import './nowhere.js';\n");
      await writeFile(
        path.join(folder, 'test', 'a b.test.js'),
        "import { expect, test } from 'vitest';\ntest('adds', () => { console.log('noise'); });\ntest('subtracts', () => expect(1).toBe(2));\n",
      );
      const stack = detect({ 'package.json': JSON.stringify({ scripts: { test: 'vitest' } }) });
      const ran = spawnSync('sh', ['-c', stack?.test ?? 'false'], { cwd: folder, encoding: 'utf8', env: { ...process.env, CI: '' } });
      expect(ran.status).toBe(1);
      expect(outcomes(readTestReport({ stdout: ran.stdout, stderr: ran.stderr, cwd: folder }))).toEqual([
        'passed test/a b.test.js > adds',
        'failed test/a b.test.js > subtracts',
        'failed test/broken.test.js',
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('CLI-21 the reports of a Java build are printed with the exit code of the build', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'gyre java é-'));
    try {
      for (const [name, body] of [
        ['A', '<testcase classname="demo.A" name="adds"/>'],
        ['B', '<testcase classname="demo.B" name="adds"><failure>no</failure></testcase>'],
      ] as const) {
        const reports = path.join(folder, name, 'build', 'test-results', 'test');
        await mkdir(reports, { recursive: true });
        await writeFile(
          path.join(reports, `TEST-demo.${name}.xml`),
          `<?xml version="1.0"?>\n<testsuite name="demo.${name}">${body}</testsuite>`,
        );
      }
      await writeFile(path.join(folder, 'gradlew'), '#!/bin/sh\necho "> Task :test FAILED"\nexit 1\n', { mode: 0o755 });
      const ran = spawnSync('sh', ['-c', detect({ gradlew: '' })?.test ?? 'true'], { cwd: folder, encoding: 'utf8' });
      expect(ran.status).toBe(1);
      expect(outcomes(readTestReport({ stdout: ran.stdout, stderr: ran.stderr, cwd: folder })).toSorted()).toEqual([
        'failed demo.B > adds',
        'passed demo.A > adds',
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('CLI-21 mocha prints TAP with the plan first and its error indented', () => {
    const stdout =
      '1..3\nok 1 sums adds\nnot ok 2 sums subtracts\n  expected 1 to equal 2\n  AssertionError: expected 1 to equal 2\n      at Context.<anonymous> (test/a.js:4:30)\nok 3 sums later # SKIP -\n# tests 2\n# pass 1\n# fail 1\n';
    expect(outcomes(readTestReport({ stdout, stderr: '' }))).toEqual(['passed sums adds', 'failed sums subtracts', 'skipped sums later']);
  });
});

test('CLI-22 the proposed commands are words a POSIX shell parses', () => {
  for (const [, files] of rows) {
    const command = detect(files)?.test;
    if (command !== undefined) expect(() => execFileSync('sh', ['-n', '-c', command])).not.toThrow();
  }
});
