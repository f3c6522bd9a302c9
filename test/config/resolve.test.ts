import { describe, expect, test } from 'vitest';
import { defaultProtect, goalLoop, originText } from '../../src/config/index.ts';
import { issuesOf, load, loopText, minimal } from './helpers.ts';

/** `key = value @ where` of one value. */
const valueOf = (loaded: ReturnType<typeof load>, key: string): string | undefined => {
  const found = loaded.values.find((value) => value.key === key);
  if (found === undefined) return undefined;
  return `${JSON.stringify(found.value)} @ ${found.origin.from === 'default' ? 'default' : originText(found.origin)}`;
};

describe('defaults', () => {
  test('CFG-10 a loop of one key and a body is complete', () => {
    expect(load(loopText(minimal)).definition).toEqual({
      name: 'fix',
      description: '',
      file: 'fix.md',
      triggers: [{ on: 'manual', id: 'manual' }],
      discover: [{ from: 'tests', command: 'npm test', report: { format: undefined, file: undefined }, times: 2, timeoutMs: 600_000 }],
      goal: 'The task is done and every check passes',
      agent: { use: 'claude', model: undefined, effort: undefined, args: [], command: undefined },
      workspace: { setup: undefined, setupTimeoutMs: 600_000, share: [] },
      verify: [{ name: 'npm test', command: 'npm test', timeoutMs: 600_000, env: {}, report: { format: undefined, file: undefined } }],
      protect: defaultProtect,
      stop: {
        attempts: 4,
        noProgress: 2,
        sameFailure: 3,
        timeMs: 2_700_000,
        budgetUsd: 5,
        budgetTokens: undefined,
        sessionMs: 1_800_000,
        idleMs: 600_000,
        resultGraceMs: 30_000,
        outputBytes: 10_485_760,
      },
      land: { as: 'branch', target: undefined, sign: 'auto' },
      notes: 'none',
      parallel: 1,
      body: 'Fix {{ task.title }}.',
      bodyLine: 4,
    });
  });

  test('L9 attempts, time, money, no progress and the same failure are limited without a word in the file', () => {
    const { stop } = load(loopText(minimal)).definition;
    for (const limit of [stop.attempts, stop.timeMs, stop.budgetUsd, stop.noProgress, stop.sameFailure, stop.idleMs])
      expect(limit).toBeGreaterThan(0);
  });

  test('CFG-11 every value of the file arrives in the definition', () => {
    const front = [
      'description: Repair',
      'on: manual',
      'discover:',
      '  - tests: npm test',
      '    report: { format: junit, file: out/junit.xml }',
      '    times: 3',
      '    timeout: 90s',
      '  - tasks: docs/TODO.md',
      '  - command: "node list.mjs"',
      'goal: All is well',
      'agent: { use: claude, model: m, effort: high, args: [--verbose], command: /opt/claude }',
      'workspace: { setup: npm ci, setup-timeout: 1h30m, sandbox: none }',
      'verify:',
      '  - npm test',
      '  - run: npm test',
      '  - { run: npm run lint, name: lint, timeout: 500ms, env: { CI: 1, A: x, B: true } }',
      'protect: []',
      'stop: { attempts: 9, no-progress: 3, same-failure: 5, time: 2h, budget: [$2.50, 200k tokens], session: 5m, idle: 40s, result-grace: 1s, output: 64KB }',
      'land: { as: merge, target: release, sign: never }',
      'parallel: 3',
    ].join('\n');
    const { definition, notices } = load(loopText(front));
    const none = { format: undefined, file: undefined };
    expect(notices).toEqual([]);
    expect(definition).toMatchObject({
      discover: [
        { from: 'tests', command: 'npm test', report: { format: 'junit', file: 'out/junit.xml' }, times: 3, timeoutMs: 90_000 },
        { from: 'tasks', file: 'docs/TODO.md' },
        { from: 'command', command: 'node list.mjs', timeoutMs: 600_000 },
      ],
      agent: { use: 'claude', model: 'm', effort: 'high', args: ['--verbose'], command: '/opt/claude' },
      workspace: { setup: 'npm ci', setupTimeoutMs: 5_400_000, share: [] },
      verify: [
        { name: 'npm test', command: 'npm test', env: {}, report: none },
        { name: 'npm test #2', command: 'npm test', env: {}, report: none },
        { name: 'lint', command: 'npm run lint', timeoutMs: 500, env: { CI: '1', A: 'x', B: 'true' }, report: none },
      ],
      protect: [],
      stop: {
        attempts: 9,
        noProgress: 3,
        sameFailure: 5,
        timeMs: 7_200_000,
        budgetUsd: 2.5,
        budgetTokens: 200_000,
        sessionMs: 300_000,
        idleMs: 40_000,
        resultGraceMs: 1000,
        outputBytes: 65_536,
      },
      land: { as: 'merge', target: 'release', sign: 'never' },
      parallel: 3,
    });
  });

  test('CFG-12 without discover the goal is the one task and the first check proves it', () => {
    const { definition } = load(loopText('goal: Lint is clean\nverify: [npm run lint, npm test]'));
    expect(definition.discover).toEqual([{ from: 'goal', condition: 'Lint is clean', check: 'npm run lint' }]);
  });

  test('CFG-13 a byte order mark, CRLF and blank lines before the front matter are accepted, and lines still count', () => {
    const { definition } = load('\uFEFF\r\n---\r\ndiscover:\r\n  - tests: npm test\r\n---\r\n\r\nFix\r\n{{ task.title }}\r\n');
    expect([definition.body, definition.bodyLine]).toEqual(['Fix\n{{ task.title }}', 7]);
    expect(issuesOf(() => load('\uFEFF---\r\ndiscover: 3\r\n---\r\nFix\r\n{{ nope }}\r\n'))).toEqual([
      'fix.md:2:11 discover: found 3, wanted a list of sources, such as - tests: npm test',
      'fix.md:5:4: found the unknown variable nope, wanted one of task, goal, attempt, previous, loop, checks',
    ]);
  });

  test('CFG-14 a few aliases are fine', () => {
    const { definition } = load(loopText(`${minimal}\nverify: [{ run: a, env: &e { A: x } }, { run: b, env: *e }]`));
    expect(definition.verify.map((check) => check.env)).toEqual([{ A: 'x' }, { A: 'x' }]);
  });
});

describe('layers', () => {
  const shared = [
    'agents:',
    '  fast: { use: command, command: node fix.mjs, prompt: file }',
    'agent: fast',
    'stop: { attempts: 7, budget: $1 }',
    'land: report',
    'workspace: { setup: npm ci }',
    'protect: ["a/**"]',
  ].join('\n');

  test('CFG-20 the loop file wins over gyre.yaml, which wins over the defaults, key by key, and each value names its origin', () => {
    const loaded = load(loopText(`${minimal}\nstop: { attempts: 2 }\nland: { sign: never }`), shared);
    expect(loaded.definition).toMatchObject({
      agent: { use: 'command', command: 'node fix.mjs', prompt: 'file' },
      stop: { attempts: 2, budgetUsd: 1, noProgress: 2 },
      land: { as: 'report', sign: 'never' },
      workspace: { setup: 'npm ci' },
      protect: ['a/**'],
    });
    expect(
      [
        'stop.attempts',
        'stop.budget',
        'stop.no-progress',
        'land.as',
        'land.sign',
        'agent',
        'protect',
        'discover.0.tests',
        'goal',
        'parallel',
        'nothing',
      ].map((key) => valueOf(loaded, key)),
    ).toEqual([
      '2 @ fix.md:3:19',
      '"$1" @ gyre.yaml:4:30',
      '2 @ default',
      '"report" @ gyre.yaml:5:7',
      '"never" @ fix.md:4:15',
      '"fast" @ gyre.yaml:3:8',
      '["a/**"] @ gyre.yaml:7:10',
      '"npm test" @ fix.md:2:21',
      '"The task is done and every check passes" @ default',
      '1 @ default',
      undefined,
    ]);
    expect(loaded.values.map((value) => value.key)).toEqual(loaded.values.map((value) => value.key).toSorted());
  });

  test('CFG-21 a list or an agent is taken whole, never mixed from two files', () => {
    const loaded = load(loopText(`${minimal}\nagent: { use: claude, model: m }\nprotect: ["b/**"]`), shared);
    expect(loaded.definition.agent).toEqual({ use: 'claude', model: 'm', effort: undefined, args: [], command: undefined });
    expect(loaded.definition.protect).toEqual(['b/**']);
    expect(valueOf(loaded, 'agent.model')).toBe('"m" @ fix.md:3:30');
    expect(loaded.values.filter((value) => value.key.startsWith('agent'))).toHaveLength(2);
  });

  test('CFG-22 a preset may bear the name of an agent, also of one that is not built in', () => {
    const text = loopText(`${minimal}\nagent: codex`);
    expect(load(text, 'agents: { codex: { use: command, command: codex exec - } }').definition.agent).toEqual({
      use: 'command',
      command: 'codex exec -',
      prompt: 'stdin',
    });
  });

  test('CFG-23 a preset that is wrong is reported where it stands, once', () => {
    expect(issuesOf(() => load(loopText(`${minimal}\nagent: fast`), 'agents: { fast: { use: command } }'))).toEqual([
      'gyre.yaml:1:17 agents.fast.command: found nothing, wanted command, because use is command',
    ]);
  });
});

describe('notices', () => {
  const noticed: readonly (readonly [string, readonly string[]])[] = [
    ['workspace: { sandbox: workspace-write }', ['workspace.sandbox']],
    ['stop: { agents: 3, depth: 2 }', ['stop.agents', 'stop.depth']],
    ['autonomy: assisted', ['autonomy']],
    ['memory: { recall: true, learn: gated }', ['memory.recall', 'memory.learn']],
    ['verify: [{ run: x, network: false, when: [src/**] }]', ['verify.0.network', 'verify.0.when']],
    ['on: manual\nworkspace: { sandbox: none }', []],
  ];
  test.each(noticed)('L15 `%s` is accepted, and it is said that it has no effect', (line, keys) => {
    const { notices } = load(loopText(`${minimal}\n${line}`));
    expect(notices.map((notice) => notice.key)).toEqual(keys);
    for (const notice of notices) {
      expect(notice.sentence).toContain('has no effect in this version');
      expect(notice.origin).toMatchObject({ file: 'fix.md', line: 3 });
    }
  });

  test('L15 keys of gyre.yaml that have no effect are said with their place', () => {
    const { notices } = load(loopText(minimal), 'budgets: { day: $20 }\nchannels: { team: "https://x" }\nsandbox: read-only');
    expect(notices.map((notice) => `${originText(notice.origin)} ${notice.key}`)).toEqual([
      'gyre.yaml:1:1 budgets',
      'gyre.yaml:2:1 channels',
      'gyre.yaml:3:1 sandbox',
    ]);
  });

  test('L15 notes in a loop without issues are said to do nothing', () => {
    expect(load(loopText(`${minimal}\nnotes: issue`)).notices.map(({ sentence }) => sentence)).toEqual([
      'notes: issue has no effect in this loop: none of its sources gives issues.',
    ]);
    const { definition, notices } = load(
      loopText('discover: [{ issues: agent }, { issues: { labels: [a, b], assignee: sam } }]\nverify: [x]\nnotes: issue'),
    );
    expect(notices).toEqual([]);
    expect(definition.notes).toBe('issue');
    expect(definition.discover).toEqual([
      { from: 'issues', labels: ['agent'], assignee: undefined },
      { from: 'issues', labels: ['a', 'b'], assignee: 'sam' },
    ]);
  });

  test('L15 a promise of a person in between is refused, not ignored', () => {
    expect(issuesOf(() => load(loopText(`${minimal}\nautonomy: assisted\nland: merge`)))).toEqual([
      'fix.md:3:11 autonomy: found assisted with land.as: merge, and approvals are not available in this version, wanted land: { as: branch }, or autonomy: unattended',
    ]);
    expect(load(loopText(`${minimal}\nautonomy: unattended\nland: merge`)).definition.land.as).toBe('merge');
    expect(load(loopText(`${minimal}\nautonomy: report\nland: report`)).definition.land.as).toBe('report');
  });
});

describe('gyre goal', () => {
  test('CFG-30 a condition and a check make a loop of one task', () => {
    const { definition, values } = goalLoop(
      { condition: 'Lint {{ is }} clean', check: 'npm run lint', attempts: 2, agent: 'fast', land: undefined },
      { file: 'gyre.yaml', text: 'agents: { fast: { use: scripted, script: a.yaml } }\nland: patch' },
    );
    expect(definition).toMatchObject({
      name: 'goal',
      file: '(command line)',
      goal: 'Lint {{ is }} clean',
      discover: [{ from: 'goal', condition: 'Lint {{ is }} clean', check: 'npm run lint' }],
      verify: [{ name: 'npm run lint', command: 'npm run lint', timeoutMs: 600_000 }],
      agent: { use: 'scripted', script: 'a.yaml' },
      stop: { attempts: 2 },
      land: { as: 'patch' },
    });
    expect(values.find((value) => value.key === 'stop.attempts')?.origin).toEqual({ from: 'file', file: '(command line)' });
  });

  test('CFG-31 what is wrong on the command line is refused like in a file', () => {
    expect(
      issuesOf(() => goalLoop({ condition: '', check: ' ', attempts: Number.NaN, time: 'soon', land: 'pr', agent: 'claud' }, undefined)),
    ).toEqual([
      '(command line) goal: found "", wanted a text',
      '(command line) verify.0.run: found " ", wanted a command',
      '(command line) land.as: found "pr", wanted one of report, patch, branch, merge, pull-request',
      '(command line) stop.attempts: found NaN, wanted a whole number from 1 to 1000',
      '(command line) stop.time: found "soon", wanted a duration with its unit from 1ms to 7d, such as 90s, 45m or 1h30m',
      '(command line) agent: found "claud", wanted one of claude, command, scripted (did you mean claude?)',
    ]);
  });
});
