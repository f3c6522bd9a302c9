// Small projects, one a test runner. Each has two tests that fail for a reason in the source, one that fails for good, one that fails in
// every second run (it counts its runs in a file of the home folder), and one that passes.
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Repair {
  /** Text in the title of the task. */
  readonly about: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Project {
  readonly runner: string;
  readonly files: Readonly<Record<string, string>>;
  /** Commands that find work; the last one may be left out of `verify`. */
  readonly discover: readonly object[];
  readonly verify: readonly object[];
  readonly setup?: string;
  /** Repaired at the first attempt. */
  readonly first: Repair;
  /** Repaired at the second attempt. */
  readonly second: Repair;
  /** Title text of the test that stays red, as the notes name it. */
  readonly old: string;
  /** Title text of the test that is red in every second run. */
  readonly flaky: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A sentence why this machine cannot run it; `undefined` when it can. */
  readonly missing: string | undefined;
}

const nodeModules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const home = os.homedir();

const answer = (command: string, args: readonly string[]): string | undefined => {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
};

const nodeFiles = (script: string): Readonly<Record<string, string>> => ({
  'package.json': JSON.stringify({ type: 'module', scripts: { test: script } }),
  'add.js': 'export const add = (a, b) => a - b;\n',
  'double.js': 'export const double = (a) => a *;\n',
  'test/add.test.js': [
    "import { test } from 'node:test';",
    "import assert from 'node:assert';",
    "import fs from 'node:fs';",
    "import { add } from '../add.js';",
    "test('adds', () => assert.equal(add(2, 3), 5));",
    "test('stays red', () => assert.equal(1, 2));",
    "test('is fine', () => {});",
    "test('wavers', () => {",
    "  fs.appendFileSync(process.env.HOME + '/wavers', 'x');",
    "  assert.equal(fs.statSync(process.env.HOME + '/wavers').size % 2, 0);",
    '});',
    '',
  ].join('\n'),
  'test/my double.test.js': [
    "import { test } from 'node:test';",
    "import assert from 'node:assert';",
    "import { double } from '../double.js';",
    "test('doubles', () => assert.equal(double(4), 8));",
    '',
  ].join('\n'),
});

const addInJs: Repair = { about: 'adds', file: 'add.js', from: 'a - b', to: 'a + b' };
const doubleInJs: Repair = { about: 'my double.test.js', file: 'double.js', from: 'a *;', to: 'a * 2;' };

const node = (reporter: string): Project => ({
  runner: `node --test, ${reporter}`,
  files: nodeFiles(`node --test --test-reporter=${reporter}`),
  discover: [{ tests: 'npm test' }],
  verify: [{ run: 'npm test' }],
  first: addInJs,
  second: doubleInJs,
  old: 'stays red',
  flaky: 'wavers',
  missing: undefined,
});

const vitestTest = (text = ''): string => text.replaceAll("import { test } from 'node:test'", "import { test } from 'vitest'");

const vitest: Project = {
  ...node('tap'),
  runner: 'vitest',
  files: {
    ...nodeFiles('vitest run'),
    '.gitignore': 'node_modules\n',
    'test/add.test.js': vitestTest(nodeFiles('')['test/add.test.js']),
    'test/my double.test.js': vitestTest(nodeFiles('')['test/my double.test.js']),
  },
  setup: `ln -s '${nodeModules}' node_modules`,
  discover: [{ tests: 'npm test -- --run --reporter=tap' }],
  verify: [{ run: 'npm test -- --run --reporter=tap' }],
  old: 'test/add.test.js > stays red',
  flaky: 'test/add.test.js > wavers',
};

const python = { PYENV_ROOT: process.env['PYENV_ROOT'] ?? path.join(home, '.pyenv'), PYTHONDONTWRITEBYTECODE: '1' };
const wavers = "p = os.environ['HOME'] + '/wavers'\n    open(p, 'a').write('x')\n    assert os.path.getsize(p) % 2 == 0";

const pytestWith = (options: string): Project => {
  const command = `python3 -m pytest -p no:cacheprovider ${options}`;
  return {
    runner: `pytest ${options}`,
    files: {
      'add.py': 'def add(a, b):\n    return a - b\n',
      'double.py': 'def dubble(a):\n    return a * 2\n',
      'conftest.py': '',
      'tests/test_add.py': `import os\nfrom add import add\n\ndef test_adds():\n    assert add(2, 3) == 5\n\ndef test_stays_red():\n    assert 1 == 2\n\ndef test_fine():\n    pass\n\ndef test_wavers():\n    ${wavers}\n`,
      'tests/test_double.py': 'from double import double\n\ndef test_doubles():\n    assert double(4) == 8\n',
    },
    discover: [{ tests: command }],
    verify: [{ run: command }],
    first: { about: 'test_adds', file: 'add.py', from: 'a - b', to: 'a + b' },
    second: { about: 'test_double.py', file: 'double.py', from: 'dubble', to: 'double' },
    old: 'tests/test_add.py > test_stays_red',
    flaky: 'tests/test_add.py > test_wavers',
    env: python,
    missing: answer('python3', ['-c', 'import pytest']) === undefined ? 'pytest cannot be imported' : undefined,
  };
};

const unittestCase = (body: string): string =>
  `import os\nimport unittest\n\nclass Case(unittest.TestCase):\n    def test_it(self):\n${body}\n`;
const unittest = (name: string): string => `python3 -m unittest test_${name}`;

const exitCodes: Project = {
  runner: 'python3 -m unittest, by exit code',
  files: {
    'add.py': 'def add(a, b):\n    return a - b\n',
    'double.py': 'def double(a):\n    return a * 3\n',
    'test_add.py': unittestCase('        from add import add\n        self.assertEqual(add(2, 3), 5)'),
    'test_double.py': unittestCase('        from double import double\n        self.assertEqual(double(4), 8)'),
    'test_old.py': unittestCase('        self.assertEqual(1, 2)'),
    'test_wavers.py': unittestCase(`        ${wavers.replaceAll('\n    ', '\n        ')}`),
  },
  discover: ['add', 'double', 'old', 'wavers'].map((name) => ({ tests: unittest(name) })),
  verify: ['add', 'double', 'old'].map((name) => ({ run: unittest(name) })),
  first: { about: 'test_add', file: 'add.py', from: 'a - b', to: 'a + b' },
  second: { about: 'test_double', file: 'double.py', from: 'a * 3', to: 'a * 2' },
  old: unittest('old'),
  flaky: unittest('wavers'),
  env: python,
  missing: answer('python3', ['--version']) === undefined ? 'there is no python3' : undefined,
};

const cargo: Project = {
  runner: 'cargo test',
  files: {
    'Cargo.toml': '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
    'Cargo.lock': 'version = 3\n\n[[package]]\nname = "sums"\nversion = "0.1.0"\n',
    '.gitignore': 'target\n',
    'src/lib.rs': [
      'pub fn add(a: i32, b: i32) -> i32 { a - b }',
      'pub fn double(a: i32) -> i32 { a * 3 }',
      '#[cfg(test)]',
      'mod tests {',
      '    #[test] fn adds() { assert_eq!(super::add(2, 3), 5); }',
      '    #[test] fn is_fine() {}',
      '}',
      '',
    ].join('\n'),
    'tests/more.rs': [
      'use std::io::Write;',
      '#[test] fn doubles() { assert_eq!(sums::double(4), 8); }',
      '#[test] fn stays_red() { assert_eq!(1, 2); }',
      '#[test] fn wavers() {',
      '    let path = std::env::var("HOME").unwrap() + "/wavers";',
      '    std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap().write_all(b"x").unwrap();',
      '    assert_eq!(std::fs::metadata(&path).unwrap().len() % 2, 0);',
      '}',
      '',
    ].join('\n'),
  },
  discover: [{ tests: 'cargo test --offline --no-fail-fast' }],
  verify: [{ run: 'cargo test --offline --no-fail-fast' }],
  first: { about: 'adds', file: 'src/lib.rs', from: 'a - b', to: 'a + b' },
  second: { about: 'doubles', file: 'src/lib.rs', from: 'a * 3', to: 'a * 2' },
  old: 'tests/more.rs > more > stays_red',
  flaky: 'tests/more.rs > more > wavers',
  env: { RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? path.join(home, '.rustup') },
  missing: answer('cargo', ['--version']) === undefined ? 'there is no cargo' : undefined,
};

/** Shell variables `add`, `double` and `wavers` that hold 0 when the test is green. */
const shellTests = [
  '#!/bin/sh',
  '[ "$(sh calc.sh add 2 3)" = 5 ]; add=$?',
  '[ "$(sh calc.sh double 4)" = 8 ]; double=$?',
  'printf x >> "$HOME/wavers"; wavers=$(( $(wc -c < "$HOME/wavers") % 2 ))',
];

const shell = {
  first: { about: 'adds', file: 'calc.sh', from: '$2 - $3', to: '$2 + $3' },
  second: { about: 'doubles', file: 'calc.sh', from: '$2 * 3', to: '$2 * 2' },
  missing: undefined,
} as const;
const calc = 'case $1 in\nadd) echo $(($2 - $3)) ;;\ndouble) echo $(($2 * 3)) ;;\nesac\n';

const tap: Project = {
  ...shell,
  runner: 'a script that prints TAP',
  files: {
    'calc.sh': calc,
    check: [
      ...shellTests,
      'point() { if [ $2 = 0 ]; then printf \'ok - %s\\n\' "$1"; else printf \'not ok - %s\\n\' "$1"; fi; }',
      'point adds $add; point doubles $double; point "stays red" 1; point wavers $wavers; point fine 0; echo 1..5; exit 1',
      '',
    ].join('\n'),
  },
  discover: [{ tests: './check' }],
  verify: [{ run: './check' }],
  old: 'stays red',
  flaky: 'wavers',
};

const junit: Project = {
  ...shell,
  runner: 'JUnit XML in a report file',
  files: {
    'calc.sh': calc,
    check: [
      ...shellTests,
      'entry() { if [ $2 = 0 ]; then echo "<testcase classname=\\"Sums\\" name=\\"$1\\"/>"; else echo "<testcase classname=\\"Sums\\" name=\\"$1\\"><failure>no</failure></testcase>"; fi; }',
      '{ echo "<testsuite name=\\"Sums\\">"; entry adds $add; entry doubles $double; entry "stays red" 1; entry wavers $wavers; entry fine 0; echo "</testsuite>"; } > report.xml',
      'echo "5 tests, see report.xml"; exit 1',
      '',
    ].join('\n'),
  },
  discover: [{ tests: './check', report: { file: 'report.xml' } }],
  verify: [{ run: './check', report: { file: 'report.xml' } }],
  old: 'Sums > stays red',
  flaky: 'Sums > wavers',
};

export const projects: readonly Project[] = [
  node('tap'),
  node('spec'),
  vitest,
  pytestWith('-rA --continue-on-collection-errors'),
  pytestWith('-q --continue-on-collection-errors'),
  exitCodes,
  cargo,
  tap,
  junit,
];
