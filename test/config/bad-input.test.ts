import { describe, expect, test } from 'vitest';
import { Rejection } from '../../src/core/fault.ts';
import { issuesOf, load, loopText, minimal } from './helpers.ts';

const loopKeys = 'description, on, discover, goal, agent, workspace, verify, protect, stop, land, autonomy, memory, notes, parallel';
const durationWanted = 'a duration with its unit from 1ms to 7d, such as 90s, 45m or 1h30m';
const budgetWanted = 'a budget such as $5, 200k tokens, or both as a list, or none';
const globsWanted = 'a list of globs such as ["**/*.test.*"], relative to the repository root, none beginning with !';

/** Front matter line (the third of the file, below `discover`) and the issues it gives. */
const lines: readonly (readonly [string, readonly string[]])[] = [
  ['parralel: 2', [`fix.md:3:1 parralel: found an unknown key, wanted one of ${loopKeys} (did you mean parallel?)`]],
  ['xyzzy: 2', [`fix.md:3:1 xyzzy: found an unknown key, wanted one of ${loopKeys}`]],
  ['__proto__: { a: 1 }', [`fix.md:3:1 __proto__: found an unknown key, wanted one of ${loopKeys}`]],
  ['stop: { attempts: 0 }', ['fix.md:3:19 stop.attempts: found 0, wanted a whole number from 1 to 1000']],
  ['stop: { attempts: "4" }', ['fix.md:3:19 stop.attempts: found "4", wanted a whole number from 1 to 1000']],
  ['stop: { attempts: 1.5 }', ['fix.md:3:19 stop.attempts: found 1.5, wanted a whole number from 1 to 1000']],
  ['stop: { no-progress: 1 }', ['fix.md:3:22 stop.no-progress: found 1, wanted a whole number from 2 to 1000']],
  ['stop: { time: 45 }', [`fix.md:3:15 stop.time: found 45, wanted ${durationWanted}`]],
  ['stop: { time: 8d }', [`fix.md:3:15 stop.time: found "8d", wanted ${durationWanted}`]],
  ['stop: { time: 0s }', [`fix.md:3:15 stop.time: found "0s", wanted ${durationWanted}`]],
  ['stop: { budget: 5 }', [`fix.md:3:17 stop.budget: found 5, wanted ${budgetWanted}`]],
  ['stop: { budget: 5 euros }', [`fix.md:3:17 stop.budget: found "5 euros", wanted ${budgetWanted}`]],
  ['stop: { budget: [$5, $6] }', [`fix.md:3:17 stop.budget: found a list of 2, wanted ${budgetWanted}`]],
  ['stop: { output: 1kb }', ['fix.md:3:17 stop.output: found "1kb", wanted a size from 64kb to 1gb with its unit, such as 10mb']],
  ['stop: [4]', ['fix.md:3:7 stop: found a list of 1, wanted a map of limits']],
  ['stop:', ['fix.md:3:6 stop: found nothing, wanted a map of limits']],
  ['protect: "**/*.test.*"', [`fix.md:3:10 protect: found "**/*.test.*", wanted ${globsWanted}`]],
  [
    'protect: ["!src/**", ../x]',
    [`fix.md:3:11 protect.0: found "!src/**", wanted ${globsWanted}`, `fix.md:3:22 protect.1: found "../x", wanted ${globsWanted}`],
  ],
  ['verify: []', ['fix.md:3:9 verify: found an empty list, wanted at least one check']],
  ['verify: [{ name: x }]', ['fix.md:3:10 verify.0.run: found nothing, wanted a command']],
  [
    'verify: [{ rnu: npm test }]',
    [
      'fix.md:3:12 verify.0.rnu: found an unknown key, wanted one of run, review, name, timeout, env, network, when, report (did you mean run?)',
    ],
  ],
  [
    'verify: [{ review: { agent: codex } }]',
    ['fix.md:3:12 verify.0.review: found a reviewer, which is not available in this version, wanted checks only, such as run: npm test'],
  ],
  ['verify: [{ run: x, env: { "A B": 1 } }]', ['fix.md:3:27 verify.0.env.A B: found "A B", wanted names of environment variables']],
  ['verify: [{ run: x, env: { A: [1] } }]', ['fix.md:3:30 verify.0.env.A: found a list of 1, wanted a text, a number, true or false']],
  [
    'verify: [{ run: x, report: { format: junitt } }]',
    [
      'fix.md:3:38 verify.0.report.format: found "junitt", wanted one of tap, node-spec, jest-json, junit, pytest, go-json, cargo (did you mean junit?)',
    ],
  ],
  ['land: { as: pr }', ['fix.md:3:13 land.as: found "pr", wanted one of report, patch, branch, merge, pull-request']],
  ['land: brnach', ['fix.md:3:7 land: found "brnach", wanted one of report, patch, branch, merge, pull-request (did you mean branch?)']],
  ['notes: isue', ['fix.md:3:8 notes: found "isue", wanted one of none, issue (did you mean issue?)']],
  ['agent: claud', ['fix.md:3:8 agent: found "claud", wanted one of claude, command, scripted (did you mean claude?)']],
  [
    'agent: codex',
    [
      'fix.md:3:8 agent: found codex, which is not available in this version, wanted one of claude, command, scripted (run any program with use: command)',
    ],
  ],
  [
    'agent: { use: gemini }',
    [
      'fix.md:3:15 agent.use: found gemini, which is not available in this version, wanted one of claude, command, scripted (run any program with use: command)',
    ],
  ],
  ['agent: command', ['fix.md:3:8 agent: found command alone, wanted { use: command, command: "<command line>" }']],
  ['agent: { use: command }', ['fix.md:3:8 agent.command: found nothing, wanted command, because use is command']],
  ['agent: { use: scripted }', ['fix.md:3:8 agent.script: found nothing, wanted script, because use is scripted']],
  [
    'agent: { use: scripted, script: /etc/x }',
    ['fix.md:3:33 agent.script: found "/etc/x", wanted a path inside the repository, relative and with /'],
  ],
  [
    'agent: { use: claude, script: x }',
    ['fix.md:3:23 agent.script: found a key that use: claude does not have, wanted one of use, model, effort, args, command'],
  ],
  [
    'agent: { modle: x }',
    [
      'fix.md:3:8 agent.use: found nothing, wanted one of claude, command, scripted',
      'fix.md:3:10 agent.modle: found an unknown key, wanted one of use, model, effort, args, command, prompt, script (did you mean model?)',
    ],
  ],
  ['agent: 7', ['fix.md:3:8 agent: found 7, wanted the name of an agent, or a map with use']],
  ['parallel: 10001', ['fix.md:3:11 parallel: found 10001, wanted a whole number from 1 to 10000']],
  ['autonomy: full', ['fix.md:3:11 autonomy: found "full", wanted one of report, assisted, unattended, earned']],
  [
    'autonomy: report',
    [
      'fix.md:3:11 autonomy: found report with land.as: branch, and approvals are not available in this version, wanted land: { as: report }',
    ],
  ],
  ['memory: { learn: yes please }', ['fix.md:3:18 memory.learn: found "yes please", wanted one of off, gated, auto']],
  ['description: " "', ['fix.md:3:14 description: found " ", wanted a text']],
];

describe('one wrong line', () => {
  test.each(lines)('CFG-01 `%s` is refused with its place, what was found and what was wanted', (line, expected) => {
    expect(issuesOf(() => load(loopText(`${minimal}\n${line}`)))).toEqual(expected);
  });
});

const discoverKeys = 'tests, tasks, command, issues, report, times, timeout';
const sources: readonly (readonly [string, readonly string[]])[] = [
  ['discover: npm test', ['fix.md:2:11 discover: found "npm test", wanted a list of sources, such as - tests: npm test']],
  ['discover: []', ['fix.md:2:11 discover: found an empty list, wanted at least one source of tasks']],
  ['discover: [npm test]', ['fix.md:2:12 discover.0: found "npm test", wanted a map with one of tests, tasks, command or issues']],
  ['discover: [{ times: 3 }]', ['fix.md:2:12 discover.0: found no source of tasks, wanted exactly one of tests, tasks, command, issues']],
  ['discover: [{ test: a }]', [`fix.md:2:14 discover.0.test: found an unknown key, wanted one of ${discoverKeys} (did you mean tests?)`]],
  [
    'discover: [{ tests: a, tasks: b }]',
    ['fix.md:2:12 discover.0: found tests and tasks together, wanted exactly one of tests, tasks, command, issues'],
  ],
  [
    'discover: [{ tasks: a, times: 3 }]\nverify: [x]',
    ['fix.md:2:24 discover.0.times: found a key that a tasks source does not have, wanted tasks alone'],
  ],
  [
    'discover: [{ tasks: ../a }]\nverify: [x]',
    ['fix.md:2:21 discover.0.tasks: found "../a", wanted a path inside the repository, relative and with /'],
  ],
  [
    'discover: [{ issues: {} }]\nverify: [x]',
    [
      "fix.md:2:14 discover.0.issues: found neither a label nor an assignee, wanted labels or an assignee: without, anybody's issue would be worked on",
    ],
  ],
  ['discover: [{ issues: "a,b" }]\nverify: [x]', ['fix.md:2:22 discover.0.issues: found "a,b", wanted a label without a comma']],
  [
    'discover: [{ issues: a }]',
    ['fix.md:1:1 verify: found nothing, wanted a check such as verify: [npm test]: a loop needs at least one check'],
  ],
  ['discover: [{ tests: a, times: 99 }]', ['fix.md:2:31 discover.0.times: found 99, wanted a whole number from 1 to 10']],
  ['dicsover: [{ tests: a }]', [`fix.md:2:1 dicsover: found an unknown key, wanted one of ${loopKeys} (did you mean discover?)`]],
  [
    'discover: [{ tasks: TODO.md }]',
    ['fix.md:1:1 verify: found nothing, wanted a check such as verify: [npm test]: a loop needs at least one check'],
  ],
  ['goal: All is well', ['fix.md:1:1 verify: found nothing, wanted a check such as verify: [npm test]: a loop needs at least one check']],
  [
    'parallel: 1',
    ['fix.md:1:1 discover: found nothing, wanted a source of tasks (discover: [{ tests: npm test }]), or a goal and a check'],
  ],
];

test.each(sources)('CFG-02 the sources `%s` are refused', (front, expected) => {
  expect(issuesOf(() => load(loopText(front)))).toEqual(expected);
});

const shape = 'a line of --- , YAML, another line of --- , then the instruction to the agent';
const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x, x]',
  ...'bcdefg'.split('').map((name, index) => `${name}: &${name} [${Array.from({ length: 10 }, () => `*${'abcdef'[index]}`).join(', ')}]`),
].join('\n');
const files: readonly (readonly [string, string, readonly string[]])[] = [
  ['an empty file', '', [`fix.md:1:1: found an empty file, wanted ${shape}`]],
  ['no front matter', 'Fix it', [`fix.md:1:1: found no front matter, wanted ${shape}`]],
  [
    'front matter without an end',
    `---\n${minimal}\nFix it`,
    ['fix.md:1:1: found front matter that never ends, wanted a line of --- below the YAML'],
  ],
  ['an empty body', loopText(minimal, '  \n\n'), ['fix.md:4:1: found no text below the front matter, wanted the instruction to the agent']],
  ['a list as front matter', loopText('- a'), ['fix.md:2:1: found a list of 1, wanted a map of keys and values']],
  ['a tab as indentation', loopText('stop:\n\tattempts: 3'), ['fix.md:3:1: found a tab as indentation, wanted spaces']],
  [
    'a key twice',
    loopText(`${minimal}\nparallel: 1\nparallel: 2`),
    ['fix.md:4:1 parallel: found the key a second time, wanted each key once'],
  ],
  ['an open quote', loopText('goal: "x'), ['fix.md:2:9: found bad YAML: Missing closing "quote, wanted valid YAML']],
  [
    'an unknown alias',
    loopText('goal: *nobody'),
    ['fix.md:2:1: found bad YAML: Unresolved alias (the anchor must be set before the alias): nobody, wanted valid YAML'],
  ],
  ['an unknown tag', loopText(`${minimal}\ngoal: !secret x`), ['fix.md:3:7: found bad YAML: Unresolved tag: !secret, wanted valid YAML']],
  [
    'a list as key',
    loopText('? [a]\n: 1'),
    ['fix.md:2:3: found bad YAML: With stringKeys, all keys must be strings, wanted a text as key'],
  ],
  [
    'anchors that explode',
    loopText(bomb),
    ['fix.md:2:1: found bad YAML: Excessive alias count indicates a resource exhaustion attack, wanted valid YAML'],
  ],
];

test.each(files)('CFG-03 a file with %s is refused with its line', (_, text, expected) => {
  expect(issuesOf(() => load(text))).toEqual(expected);
});

test('CFG-03 lists nested a hundred thousand deep are refused and do not break the reader', () => {
  const [first = ''] = issuesOf(() => load(loopText(`goal: ${'['.repeat(100_000)}`)));
  expect(first).toContain('found lists or maps nested too deeply, wanted a few levels of lists and maps');
});

test('CFG-04 all issues of the loop file, of its template and of gyre.yaml come at once, in the order of the files', () => {
  const text = loopText(`${minimal}\nagent: nobody\nstop: { tiem: 3m }`, 'Fix {{ task.titel }}');
  expect(issuesOf(() => load(text, 'agents: { fast: { use: clade } }\nbudgets: { day: 3 }\nstp: {}'))).toEqual([
    'fix.md:3:8 agent: found "nobody", wanted one of claude, command, scripted, fast',
    'fix.md:4:9 stop.tiem: found an unknown key, wanted one of attempts, no-progress, same-failure, time, budget, agents, depth, session, idle, result-grace, output (did you mean time?)',
    'fix.md:6:8: found the unknown variable task.titel, wanted one of task.key, task.title, task.body, task.evidence, task.source, task.trust, task.touches (did you mean task.title?)',
    'gyre.yaml:1:24 agents.fast.use: found "clade", wanted one of claude, command, scripted (did you mean claude?)',
    `gyre.yaml:2:17 budgets.day: found 3, wanted ${budgetWanted}`,
    'gyre.yaml:3:1 stp: found an unknown key, wanted one of agents, agent, workspace, protect, stop, land, limits, server, connect, budgets, channels, sandbox (did you mean stop?)',
  ]);
});

test('CFG-03 a gyre.yaml with two documents, with a list, or with nothing in it', () => {
  expect(issuesOf(() => load(loopText(minimal), 'stop: {}\n---\nstop: {}'))).toEqual([
    'gyre.yaml:2:1: found a second document, wanted one YAML document',
  ]);
  expect(issuesOf(() => load(loopText(minimal), '- a'))).toEqual(['gyre.yaml:1:1: found a list of 1, wanted a map of keys and values']);
  expect(issuesOf(() => load(loopText(minimal), '\uFEFF# nothing yet\n'))).toEqual([]);
});

test('CFG-05 of more than a hundred issues a hundred are listed and the rest is counted', () => {
  const front = Array.from({ length: 150 }, (_, index) => `zz${index}: 1`).join('\n');
  try {
    load(loopText(`${minimal}\n${front}`));
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(Rejection);
    const rejection = error as Rejection;
    expect([rejection.message, rejection.issues.length, rejection.hint]).toEqual([
      'fix.md has 150 issues.',
      100,
      '50 more issues are not listed.',
    ]);
  }
});
