import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDiscoverer, type Discovery } from '../../src/discover/index.ts';
import type { CheckObservation } from '../../src/core/verdict.ts';
import { unnamedTest } from '../../src/core/test-report.ts';
import { readTestReport } from '../../src/verify/reports/index.ts';
import { loopOf, observation, partsOf, recordedChecks, report, requestOf, temporaryFolder, testsEntry } from './world.ts';

const discoverIn = async (...runs: readonly CheckObservation[]): Promise<Discovery> =>
  createDiscoverer(partsOf({ checks: recordedChecks(runs).checks })).discover(requestOf([testsEntry()]));

const nothing: Discovery = { tasks: [], setAside: [], problems: [], unread: [] };

describe('failing tests as tasks', () => {
  test('DSC-01 a test red in every run is one task with its proof, its evidence and a stable key', async () => {
    const red = observation({ report: report('red a.test.js > adds', 'green a.test.js > subtracts') });
    const found = await discoverIn(red, red);
    expect(found).toEqual({
      tasks: [
        {
          key: 'test:npm test:a.test.js > adds',
          title: 'Failing test: a.test.js > adds',
          body: 'The test "a.test.js > adds" of `npm test` fails.',
          evidence: 'a.test.js > adds went wrong',
          priority: 0,
          touches: [],
          trust: 'repository',
          source: 'tests: npm test',
          proof: { by: 'test', command: 'npm test', test: 'a.test.js > adds', file: undefined },
        },
      ],
      setAside: [],
      problems: [],
      unread: [],
    });
  });

  test('DSC-02 a test red in some runs, or missing from one, is set aside as flaky with its rate', async () => {
    const found = await discoverIn(
      observation({ report: report('red steady', 'red wobbles', 'red vanishes') }),
      observation({ report: report('red steady', 'green wobbles') }),
    );
    expect(found.tasks.map((task) => task.title)).toEqual(['Failing test: steady']);
    expect(found.setAside).toEqual([
      { key: 'test:npm test:wobbles', title: 'Failing test: wobbles', why: 'Flaky: red 1 of 2 runs on the same commit.' },
      { key: 'test:npm test:vanishes', title: 'Failing test: vanishes', why: 'Flaky: red 1 of 2 runs on the same commit.' },
    ]);
  });

  test('L10 all green costs one check and gives nothing: no process, no checkout', async () => {
    const green = observation({ exitCode: 0, report: report('green adds') });
    expect(await discoverIn(green, green)).toEqual(nothing);
  });

  test('DSC-03 without a report the exit code speaks: red in all runs a task, red in some flaky, green nothing', async () => {
    const red = observation({ output: 'make: *** [check] Error 2', exitCode: 2 });
    const green = observation({ exitCode: 0 });
    const found = await discoverIn(red, red);
    expect(found.tasks).toMatchObject([
      { key: 'exit:npm test', evidence: 'make: *** [check] Error 2', proof: { by: 'command', command: 'npm test' } },
    ]);
    expect(await discoverIn(red, green)).toMatchObject({ tasks: [], setAside: [{ why: 'Flaky: red 1 of 2 runs on the same commit.' }] });
    expect(await discoverIn(green, green)).toEqual(nothing);
  });

  test('DSC-04 a report without a red test and a red exit code is one task for the exit code', async () => {
    const run = observation({ exitCode: 1, report: report('green adds'), output: 'coverage 79% is below 80%' });
    expect((await discoverIn(run, run)).tasks).toMatchObject([{ key: 'exit:npm test', evidence: 'coverage 79% is below 80%' }]);
  });

  test.each([
    [
      'a broken report',
      observation({ report: { read: 'broken', format: 'tap', why: 'It broke off.' } }),
      'broken, run 2 of 2. It broke off.',
    ],
    [
      'a time-out',
      observation({ end: 'timed-out', exitCode: null, problem: 'It was ended after 5 ms.' }),
      '(timed-out, run 2 of 2). It was ended after 5 ms.',
    ],
    [
      'a failed set-up',
      observation({ end: 'setup-failed', problem: 'npm ci failed.' }),
      'set-up failed on base, run 2 of 2. npm ci failed.',
    ],
    ['a killed run', observation({ end: 'killed', exitCode: null, problem: 'Out of memory.' }), 'Out of memory.'],
  ])('L15 %s in one run is a problem, never "no tasks" and never half of them', async (_, bad, said) => {
    const found = await discoverIn(observation({ report: report('red adds') }), bad);
    expect(found.tasks).toEqual([]);
    expect(found.problems).toHaveLength(1);
    expect(found.problems[0]).toContain(said);
    expect(found.problems[0]).toMatch(/^tests: npm test: /);
  });

  test.each([
    ['/usr/bin/python3: No module named pytest', 1, 'Python has no module pytest. Install it in workspace.setup'],
    ['sh: 1: jest: not found', 127, 'jest: not found Install it in workspace.setup'],
    ['npm error Missing script: "test"\nnpm error', 1, 'package.json has no script "test"'],
    ['error Command "test" not found.', 1, 'package.json has no script "test"'],
  ])('DSC-05 a test command that is not there (%s) is a problem with what to do, no task', async (output, exitCode, said) => {
    const run = observation({ output, exitCode });
    const found = await discoverIn(run, run);
    expect(found.tasks).toEqual([]);
    expect(found.problems[0]).toContain(said);
  });

  test('L15 a command that runs no test, or prints a report only sometimes, is a problem', async () => {
    const none = observation({ exitCode: 0, report: report() });
    expect((await discoverIn(none, none)).problems[0]).toContain('ran no test');
    expect((await discoverIn(observation({ report: report('red adds') }), observation())).problems[0]).toContain('1 of 2 runs only');
  });

  test('L15 red tests behind an exit code of 0 are found, and the hidden exit code is said', async () => {
    const run = observation({ exitCode: 0, report: report('red adds') });
    const found = await discoverIn(run, run);
    expect(found.tasks).toHaveLength(1);
    expect(found.problems[0]).toContain('exit code 0 although 1 tests failed');
  });

  test('DSC-07 red tests of a runner that names only them are tasks: their repair is told by the count', async () => {
    const stdout =
      'F.\n=== FAILURES ===\n=== short test summary info ===\nFAILED tests/test_a.py::test_adds - no\n1 failed, 1 passed in 0.01s\n';
    const read = readTestReport({ stdout, stderr: '' });
    expect(read).toMatchObject({ read: 'yes', tests: [{ outcome: 'failed' }, { name: unnamedTest }] });
    const found = await discoverIn(observation({ report: read }), observation({ report: read }));
    expect(found.tasks.map((task) => task.title)).toEqual(['Failing test: tests/test_a.py > test_adds']);
    expect(found.problems).toEqual([]);
  });

  test('L12 failure text is cut with a note, plain, without the folder of the check, and labelled repository', async () => {
    const text = `\u001B[31m/room/1/src/a.js failed\u001B[39m${'x'.repeat(20_000)}`;
    const run = observation({ output: text, exitCode: 3 });
    const [task] = (await discoverIn(run, run)).tasks;
    expect(task?.evidence).toMatch(/^src\/a\.js failedx+\n\[\.\.\. \d+ characters cut by Gyre \.\.\.\]\n/);
    expect(task?.evidence.length).toBeLessThan(8_100);
    expect(task?.trust).toBe('repository');
  });

  test('DSC-06 the baseline is asked for as often as the entry says, as the check of the same command, and its report named', async () => {
    const { checks, asked } = recordedChecks([observation({ exitCode: 0 })]);
    const verify = [{ name: 'unit', command: 'npm test', timeoutMs: 1, env: { A: 'b' }, report: { format: 'junit', file: 'out.xml' } }];
    const loop = {
      ...loopOf([testsEntry(), testsEntry('make', 3)], verify),
      workspace: { setup: 'npm ci', setupTimeoutMs: 9 },
    };
    await createDiscoverer(partsOf({ checks })).discover(requestOf([], { loop, prefix: 'packages/a' }));
    expect(asked).toMatchObject([
      { times: 2, prefix: 'packages/a', setup: 'npm ci', setupTimeoutMs: 9, check: { ...verify[0], timeoutMs: 60_000 } },
      { times: 3, check: { name: 'make', env: {}, report: { format: undefined, file: undefined } } },
    ]);
    expect(new Set(asked.map((request) => request.key)).size).toBe(2);
  });

  test('DSC-07 from a real run of node --test to the tasks', { timeout: 120_000 }, async () => {
    await using temporary = await temporaryFolder();
    const { dir } = temporary;
    await mkdir(path.join(dir, 'test'));
    await writeFile(path.join(dir, 'package.json'), '{"type":"module"}');
    await writeFile(
      path.join(dir, 'test', 'sums.test.js'),
      "import test from 'node:test';\nimport assert from 'node:assert';\ntest('adds', () => assert.equal(1 + 1, 3));\ntest('subtracts', () => {});\n",
    );
    await writeFile(path.join(dir, 'test', 'broken.test.js'), "import './missing.js';\n");
    const runs = [1, 2].map(() => {
      const done = spawnSync(process.execPath, ['--test'], { cwd: dir, env: { PATH: process.env['PATH'] ?? '' }, encoding: 'utf8' });
      const read = readTestReport({ stdout: done.stdout, stderr: done.stderr, cwd: dir });
      return observation({ cwd: dir, exitCode: done.status, output: done.stdout, report: read });
    });
    const found = await discoverIn(...runs);
    expect(found.problems).toEqual([]);
    expect(found.tasks.map((task) => task.key)).toEqual(['test:npm test:adds', 'test:npm test:test/broken.test.js']);
    expect(found.tasks[0]?.evidence).toContain('AssertionError');
    expect(found.tasks[1]?.evidence).toContain('ERR_MODULE_NOT_FOUND');
    expect(JSON.stringify(found)).not.toContain(dir);
  });
});
