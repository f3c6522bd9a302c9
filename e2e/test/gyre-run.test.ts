// `gyre run` with the real Claude Code against the scripted model: the whole way from a failing test to a landed change, and the ways in
// which it does not get there. Every scene asserts on leaving that the user's checkout is byte-same, that no process of it is alive and
// that the journal's chain holds (test/testkit/scene.ts).
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';
import { attemptsOf, changedIn, fileAt, gyreBranches, lastRun, runsOf } from '../../test/field/support.ts';
import { makeScene, waitFor, type Scene } from '../../test/testkit/scene.ts';
import type { ModelServer, ReplyUsage, Scenarios, Step } from '../../test/testkit/model-server/index.ts';
import { startModelServer } from '../../test/testkit/model-server/index.ts';
import { claudeEnvironment, claudePath, claudeVersion } from '../claude.ts';

/** What one call of the model server's usual usage costs by the program's own price list. */
const usdPerCall = 0.0118;

/** A session takes seconds on an idle machine; a busy one needs many times that just to start the program. */
const sceneMs = 300_000;
const sessionStartMs = 120_000;

const wrong = 'export const sum = (a, b) => a - b;\n';
const right = 'export const sum = (a, b) => a + b;\n';
const sumTest = `import assert from 'node:assert/strict';
import test from 'node:test';
import { sum } from './sum.mjs';

test('two numbers are added', () => assert.equal(sum(2, 3), 5));
`;

const write = (content: string): Step => ({ ops: [{ op: 'write', path: 'sum.mjs', content }] });
const read = (file: string): Step => ({ ops: [{ op: 'read', path: file }] });
const done: Step = { text: 'Done: the tests pass.' };

interface Stage extends AsyncDisposable {
  readonly scene: Scene;
  readonly server: ModelServer;
}

/** Lets the scene's agents talk to this server and to nothing else. */
const connect = (scene: Scene, server: ModelServer): void => {
  const { PATH, ...rest } = claudeEnvironment(server.url, scene.env['HOME'] ?? '');
  const program = claudePath();
  if (program === undefined || PATH === undefined) throw new Error('Claude Code is not installed.');
  // The agent is found as a user's would be: by its name, on PATH.
  Object.assign(scene.env, rest, { PATH: [path.dirname(program), PATH].join(path.delimiter) });
};

interface StageOptions {
  readonly scenarios: Scenarios;
  /** What the loop says beyond its agent. */
  readonly front?: Readonly<Record<string, unknown>>;
  /** Instruction to the agent; holds the tag that picks the scenario. */
  readonly body: string;
  readonly files?: Readonly<Record<string, string>>;
}

const openStage = async ({ scenarios, front = {}, body, files = {} }: StageOptions): Promise<Stage> => {
  const server = await startModelServer({ scenarios });
  const scene = await makeScene({ files: { 'sum.mjs': wrong, 'sum.test.mjs': sumTest, ...files } });
  connect(scene, server);
  await scene.loop(
    { agent: { use: 'claude' }, discover: [{ tests: 'node --test' }], verify: [{ run: 'node --test' }], ...front },
    `${body}\n\n{{ task.title }}\n\n{{ task.evidence }}\n`,
  );
  return {
    scene,
    server,
    [Symbol.asyncDispose]: async () => {
      // The scene first: agents that are still there must not be seen to end because their model went away.
      await scene[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
};

const calls = (server: ModelServer) => server.requests.filter(({ played }) => played !== undefined);
/** How many sessions came to the model: each has one first call that is answered. */
const sessions = (server: ModelServer): number =>
  calls(server).filter(({ played, fault }) => played?.turn === 0 && played.why === 'tag' && fault === undefined).length;

/** Tokens by kind over all calls that were answered: the truth. */
const served = (server: ModelServer) => {
  const total = (kind: keyof ReplyUsage): number => server.requests.reduce((sum, { usage }) => sum + (usage?.[kind] ?? 0), 0);
  return { input: total('input'), cacheRead: total('cacheRead'), cacheWrite: total('cacheWrite'), output: total('output') };
};

const spentCalls = (server: ModelServer): number => server.requests.filter(({ usage }) => usage !== undefined).length;

interface Shown {
  readonly attemptViews: readonly {
    readonly record: { readonly agentOutcome: string; readonly spend: { readonly usd?: number; readonly tokens?: number } };
    readonly agent: {
      readonly agent: { readonly id: string; readonly version?: string };
      readonly usage: readonly Readonly<Record<string, unknown>>[];
      readonly usageSource: string;
      readonly retries: number;
      readonly process: { readonly wasAdopted: boolean; readonly endedAfterResult: boolean };
    };
  }[];
}

const show = (scene: Scene, run: string): Promise<Shown> => scene.json<Shown>('show', run);

/** The folder in which the agent of the one open run works, once a file is there. */
const workFolder = async (scene: Scene, holding: string): Promise<string> => {
  let found = '';
  await waitFor(
    `the agent writes ${holding}`,
    () => {
      const state = path.join(scene.root, 'state', 'gyre');
      const all = existsSync(state) ? readdirSync(state).map((name) => path.join(state, name, 'worktrees')) : [];
      const trees = all.filter((dir) => existsSync(dir)).flatMap((dir) => readdirSync(dir).map((name) => path.join(dir, name)));
      found = trees.find((dir) => existsSync(path.join(dir, holding))) ?? '';
      return found !== '';
    },
    sessionStartMs,
  );
  return found;
};

test(
  'RUN-01 it repairs the failing test and lands it on a branch; tokens and dollars are what the model served; the transcript is kept',
  { timeout: sceneMs },
  async () => {
    const scenarios = { fix: [write(right), { ops: [{ op: 'bash', command: 'node --test' }] }, done] } satisfies Scenarios;
    await using stage = await openStage({ scenarios, body: '[[s:fix]] Repair it.' });
    const { scene, server } = stage;
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const [branch = ''] = gyreBranches(scene);
    expect(changedIn(scene, branch)).toEqual(['sum.mjs']);
    expect(fileAt(scene, branch, 'sum.mjs')).toBe(right);

    const { run } = await lastRun(scene);
    const { attemptViews } = await show(scene, run);
    expect(attemptViews).toHaveLength(1);
    const [view] = attemptViews;
    expect(view?.agent.agent).toMatchObject({ id: 'claude', version: claudeVersion });
    expect(view?.agent).toMatchObject({ usageSource: 'agent', retries: 0, usage: [served(server)] });
    const tokens = Object.values(served(server)).reduce((sum, count) => sum + count, 0);
    expect(spentCalls(server)).toBe(3);
    expect(view?.record.spend.tokens).toBe(tokens);
    expect(view?.record.spend.usd).toBeCloseTo(3 * usdPerCall, 9);
    const logs = await scene.gyre('logs', run);
    expect(logs.stdout).toContain('"type":"result"');
    expect(logs.stdout).toContain('Done: the tests pass.');
    expect((await scene.gyre('show', run)).stdout).toContain(`claude ${claudeVersion}`);
    // The change waits to be merged: a second run makes nothing again.
    expect((await scene.gyre('run')).code).toBe(0);
    expect(spentCalls(server)).toBe(3);
  },
);

test('RUN-02 a wrong first attempt is judged, and the second is told what failed', { timeout: sceneMs }, async () => {
  const scenarios = {
    'try-1': [write('export const sum = (a, b) => a * b + 1000;\n'), done],
    'try-2': [read('sum.mjs'), write(right), done],
  } satisfies Scenarios;
  await using stage = await openStage({ scenarios, body: '[[s:try-{{ attempt.number }}]] Repair it.' });
  const { scene, server } = stage;
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(0);
  const firstCall = (scenario: string): string =>
    JSON.stringify(calls(server).find(({ played }) => played?.scenario === scenario && played.turn === 0)?.body);
  expect(firstCall('try-1')).not.toContain('1006');
  expect(firstCall('try-2')).toContain('1006 !== 5');
  expect(firstCall('try-2')).toContain('What the last attempt left');
  expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'sum.mjs')).toBe(right);
  const attempts = await attemptsOf(scene, (await lastRun(scene)).run);
  expect(attempts.map(({ record }) => record.verdict)).toEqual(['fail', 'pass']);
});

test('RUN-03 an agent that edits the test instead is refused, and parked the second time', { timeout: sceneMs }, async () => {
  const edit = (from: string, to: string): readonly Step[] => [
    read('sum.test.mjs'),
    { ops: [{ op: 'edit', path: 'sum.test.mjs', from, to }] },
    done,
  ];
  const scenarios = {
    'cheat-1': edit('sum(2, 3), 5', 'sum(2, 3), -1'),
    'cheat-2': edit("test('two", "test.skip('two"),
  } satisfies Scenarios;
  await using stage = await openStage({ scenarios, body: '[[s:cheat-{{ attempt.number }}]] Repair it.' });
  const { scene } = stage;
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(3);
  const run = await lastRun(scene);
  expect(run.exit).toMatchObject({ exit: 'parked', why: expect.stringContaining('Refused twice') as string });
  const attempts = await attemptsOf(scene, run.run);
  expect(attempts.map(({ record }) => [record.verdict, record.kinds.includes('cheat')])).toEqual([
    ['fail', true],
    ['fail', true],
  ]);
  expect(changedIn(scene, attempts[0]?.candidate ?? '')).toEqual(['sum.test.mjs']);
  expect(gyreBranches(scene)).toEqual([]);
});

test('RUN-04 L5 after kill -9 the next run takes over the same session: one session, one landing', { timeout: sceneMs }, async () => {
  const wait = 'echo at work > started.txt; until [ -e go.txt ]; do sleep 0.2; done; rm started.txt go.txt';
  const scenarios = { slow: [{ ops: [{ op: 'bash', command: wait }] }, write(right), done] } satisfies Scenarios;
  await using stage = await openStage({ scenarios, body: '[[s:slow]] Repair it.' });
  const { scene, server } = stage;
  const first = scene.start('run');
  const folder = await workFolder(scene, 'started.txt');
  const killed = once(first, 'exit');
  first.kill('SIGKILL');
  await killed;
  const second = scene.gyre('run');
  await waitFor('the second engine owns the run', async () => (await lastRun(scene)).state === 'running');
  writeFileSync(path.join(folder, 'go.txt'), '');
  const ran = await second;
  expect(ran.code, ran.all).toBe(0);
  expect(ran.stdout).toContain('Going on with run');
  expect(sessions(server)).toBe(1);
  expect(spentCalls(server)).toBe(3);
  expect(gyreBranches(scene)).toHaveLength(1);
  expect(changedIn(scene, gyreBranches(scene)[0] ?? '')).toEqual(['sum.mjs']);
  const runs = await runsOf(scene);
  expect(runs.map(({ exit, attempts }) => [exit?.exit, attempts])).toEqual([['goal-met', 1]]);
  const { attemptViews } = await show(scene, runs[0]?.run ?? '');
  expect(attemptViews[0]?.agent.process.wasAdopted).toBe(true);
  expect(attemptViews[0]?.record.spend.usd).toBeCloseTo(3 * usdPerCall, 9);
});

test('RUN-05 L13 `gyre stop` ends it in the middle of a tool, and the tool with it', { timeout: sceneMs }, async () => {
  const scenarios = { busy: [{ ops: [{ op: 'bash', command: 'echo at work > started.txt; sleep 300' }] }, done] } satisfies Scenarios;
  await using stage = await openStage({ scenarios, body: '[[s:busy]] Repair it.' });
  const { scene, server } = stage;
  const engine = scene.start('run');
  const ended = once(engine, 'exit');
  await workFolder(scene, 'started.txt');
  const { run } = await lastRun(scene);
  const stopped = await scene.gyre('stop', run);
  expect(stopped.code, stopped.all).toBe(0);
  expect((await ended)[0]).toBe(4);
  expect((await lastRun(scene)).exit).toMatchObject({ exit: 'stopped', by: 'cancelled' });
  // It did cost something, and nobody knows how much: that is not said to be nothing.
  expect((await scene.gyre('show', run)).stdout).toContain('spend    unknown cost');
  // Claude Code starts its tools in sessions of their own: the end of its group alone would leave this one.
  expect(scene.alive()).toEqual([]);
  expect(sessions(server)).toBe(1);
});

test(
  'RUN-06 AGT-03 a refused key parks the run in bounded time, at no cost to it, and the next run goes on with it',
  { timeout: sceneMs },
  async () => {
    const refused = [{ faults: [{ fault: 'status', status: 401, times: 'always' }], ...write(right) }, done] as const;
    await using stage = await openStage({
      scenarios: { fix: refused },
      body: '[[s:fix]] Repair it.',
      front: { stop: { attempts: 1, 'result-grace': '3s' } },
      files: { 'more.test.mjs': sumTest.replace('two numbers', 'two other numbers') },
    });
    const { scene, server } = stage;
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(3);
    expect(ran.stdout).toContain('Later tasks were not started');
    expect(ran.stdout).toContain('refused with status 401');
    const [run, ...others] = await runsOf(scene);
    expect(others).toEqual([]);
    expect(run?.exit).toMatchObject({ exit: 'parked', why: expect.stringContaining('auth: ') as string });
    const { attemptViews } = await show(scene, run?.run ?? '');
    expect(attemptViews.map(({ record }) => record.agentOutcome)).toEqual(['failed: auth']);
    expect(attemptViews[0]?.agent.process.endedAfterResult).toBe(true);
    // By itself it asks eleven times.
    expect(server.requests.length).toBeLessThan(8);

    await using good = await startModelServer({ scenarios: { fix: [write(right), done] } });
    connect(scene, good);
    const again = await scene.gyre('run');
    expect(again.code, again.all).toBe(0);
    const runs = await runsOf(scene);
    // `attempts: 1` was not used up by the attempt in which it could not work. The other task is the same repair, and is made of its own.
    expect(runs[0]).toMatchObject({ run: run?.run, attempts: 2, exit: { exit: 'goal-met' } });
    expect(runs.slice(1).map(({ exit }) => exit?.exit)).toEqual(['goal-met']);
  },
);

test('RUN-07 LIM-01 a rate limit that passes is waited for and its retries are counted', { timeout: sceneMs }, async () => {
  const limited: Step = { faults: [{ fault: 'status', status: 429, retryAfterS: 1, times: 2 }], ...write(right) };
  await using stage = await openStage({ scenarios: { limited: [limited, done] }, body: '[[s:limited]] Repair it.' });
  const { scene, server } = stage;
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(0);
  const { attemptViews } = await show(scene, (await lastRun(scene)).run);
  expect(attemptViews.map(({ agent }) => agent.retries)).toEqual([2]);
  expect(attemptViews[0]?.agent.usage).toMatchObject([served(server)]);
});

test('RUN-08 STP-05 a prompt that never fits is made shorter, and then parked with the cause', { timeout: sceneMs }, async () => {
  const long = sumTest.replace('sum(2, 3), 5)', "sum(2, 3), 5, 'It does not add. '.repeat(2000))");
  const scenarios = { long: [{ faults: [{ fault: 'overflow', times: 'always' }], ...done }] } satisfies Scenarios;
  await using stage = await openStage({ scenarios, body: '[[s:long]] Repair it.', files: { 'sum.test.mjs': long } });
  const { scene, server } = stage;
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(3);
  const run = await lastRun(scene);
  expect(run.exit).toMatchObject({ exit: 'parked', why: expect.stringContaining("does not fit the agent's context") as string });
  const { attemptViews } = await show(scene, run.run);
  expect(attemptViews.length).toBeGreaterThan(1);
  expect(attemptViews.length).toBeLessThanOrEqual(3);
  const lengths = calls(server)
    .filter(({ fault }) => fault === 'overflow')
    .map(({ body }) => JSON.stringify((body as { messages: unknown }).messages).length);
  expect(lengths.at(-1)).toBeLessThan((lengths[0] ?? 0) - 4_000);
});

test('RUN-09 PRC-01 a command that it left in the background does not hold up the run after its result', { timeout: sceneMs }, async () => {
  const background = { command: 'until [ -e never.txt ]; do sleep 1; done', description: 'Wait', run_in_background: true };
  const scenarios = { held: [write(right), { ops: [{ op: 'tool', name: 'Bash', input: background }] }, done] } satisfies Scenarios;
  await using stage = await openStage({ scenarios, body: '[[s:held]] Repair it.', front: { stop: { 'result-grace': '2s' } } });
  const { scene, server } = stage;
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(0);
  const { attemptViews } = await show(scene, (await lastRun(scene)).run);
  expect(attemptViews[0]?.agent.process.endedAfterResult).toBe(true);
  expect(attemptViews[0]?.agent.usage).toMatchObject([served(server)]);
  expect(attemptViews[0]?.record.agentOutcome).toBe('completed');
  expect(scene.alive()).toEqual([]);
});

test('RUN-10 `gyre init` and `gyre doctor` find it with its version', { timeout: sceneMs }, async () => {
  await using stage = await openStage({ scenarios: {}, body: 'x' });
  const { scene, server } = stage;
  const doctor = await scene.json<readonly { what: string; state: string; sentence: string }[]>('doctor');
  const agent = doctor.find(({ what, sentence }) => what === 'agent' && sentence.startsWith('claude '));
  expect(agent).toEqual({ what: 'agent', state: 'ok', sentence: `claude ${claudeVersion} at ${claudePath() ?? ''}` });
  const init = await scene.gyre('init', '--loop', 'other', '--test', 'node --test');
  expect(init.code, init.all).toBe(0);
  expect(init.stdout).toContain(`Agents found: claude ${claudeVersion}`);
  expect(init.stdout).toContain('with agent claude, in report mode');
  scene.settle();
  // Looking costs nothing.
  expect(server.requests).toEqual([]);
});
