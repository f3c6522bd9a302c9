// The pinned Claude Code against the scripted model, without Gyre between them: what Gyre's adapter is built on. When a new version of
// the program changes one of these facts, this is where it shows first.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ModelServer } from '../../test/testkit/model-server/index.ts';
import { standardScenarios, startModelServer, usualUsage } from '../../test/testkit/model-server/index.ts';
import { claudeEnvironment, claudeVersion } from '../claude.ts';
import { findLeftovers } from '../leftovers.ts';
import { openRunFolder } from '../run-folder.ts';
import type { ClaudeEnd, RunningClaude } from '../start-claude.ts';
import { startClaude } from '../start-claude.ts';

interface World extends AsyncDisposable {
  readonly server: ModelServer;
  readonly project: string;
  readonly marker: string;
  start(scenario: string, env?: Readonly<Record<string, string>>): RunningClaude;
}

const openWorld = async (files: Readonly<Record<string, string>> = {}): Promise<World> => {
  const folder = await openRunFolder({ files });
  const server = await startModelServer({ scenarios: standardScenarios });
  const { project, marker } = folder;
  return {
    server,
    project,
    marker,
    start: (scenario, extra = {}) => {
      const env = { ...claudeEnvironment(server.url, folder.home), ...extra };
      return startClaude({ prompt: `[[s:${scenario}]] Make the test pass.`, cwd: project, env });
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
};

const toolNames = ({ events }: ClaudeEnd): readonly unknown[] =>
  events
    .flatMap((event) => (event['type'] === 'assistant' ? (event['message'] as { content: { type: string; name?: string }[] }).content : []))
    .filter(({ type }) => type === 'tool_use')
    .map(({ name }) => name);

/** Tokens by kind over all models, as the program reports them. */
const reportedUsage = ({ result }: ClaudeEnd): readonly number[] => {
  const models = Object.values((result['modelUsage'] ?? {}) as Record<string, Record<string, number>>);
  const kinds = ['inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens', 'outputTokens'];
  return kinds.map((kind) => models.reduce((total, model) => total + (model[kind] ?? 0), 0));
};

/** The same from the calls that the server answered: the truth. */
const servedUsage = ({ requests }: ModelServer): readonly number[] =>
  (['input', 'cacheRead', 'cacheWrite', 'output'] as const).map((kind) =>
    requests.reduce((total, { usage }) => total + (usage?.[kind] ?? 0), 0),
  );

test('CLI-01 it writes a file with its own tool, runs the tests in its shell and answers, at exactly the cost of three calls', async () => {
  await using world = await openWorld();
  const end = await world.start('fix').ended;
  expect(end).toMatchObject({ exitCode: 0, result: { subtype: 'success', is_error: false, num_turns: 3, terminal_reason: 'completed' } });
  expect(end.result['result']).toBe('Done: sum.mjs is written and the tests pass.');
  expect(end.events[0]).toMatchObject({ type: 'system', subtype: 'init', cwd: world.project, claude_code_version: claudeVersion });
  expect(toolNames(end)).toEqual(['Write', 'Bash']);
  expect(await readFile(path.join(world.project, 'sum.mjs'), 'utf8')).toContain('a + b');
  // What the model was shown of the test run is the real output.
  expect(JSON.stringify(world.server.requests.at(-1)?.body)).toContain('pass 1');
  expect(reportedUsage(end)).toEqual([3600, 27_000, 2400, 180]);
  expect(servedUsage(world.server)).toEqual([3600, 27_000, 2400, 180]);
  expect(end.result['total_cost_usd']).toBeGreaterThan(0);
});

test('CLI-02 it reads a file and changes one place in it with its own tools', async () => {
  await using world = await openWorld({ 'sum.mjs': 'export const sum = (a, b) => a - b;\n' });
  const end = await world.start('edit').ended;
  expect(end).toMatchObject({ exitCode: 0, result: { subtype: 'success', is_error: false, permission_denials: [] } });
  expect(toolNames(end)).toEqual(['Read', 'Edit', 'Bash']);
  expect(await readFile(path.join(world.project, 'sum.mjs'), 'utf8')).toBe('export const sum = (a, b) => a + b;\n');
  expect(reportedUsage(end)).toEqual(servedUsage(world.server));
});

test('CLI-03 a refused key is told as subtype success with is_error: only the status and the exit code are bad', async () => {
  await using world = await openWorld();
  const end = await world.start('bad-key', { CLAUDE_CODE_MAX_RETRIES: '0' }).ended;
  expect(end).toMatchObject({ exitCode: 1, result: { subtype: 'success', is_error: true, api_error_status: 401 } });
  expect(world.server.requests.map(({ status }) => status)).toEqual([401]);
  expect(reportedUsage(end)).toEqual([0, 0, 0, 0]);
});

test('CLI-04 a rate limit that passes is waited for, told in events, and costs nothing', async () => {
  await using world = await openWorld();
  const end = await world.start('rate-limited').ended;
  expect(end).toMatchObject({ exitCode: 0, result: { subtype: 'success', is_error: false, result: 'Answered after the fault.' } });
  const retries = end.events.filter(({ subtype }) => subtype === 'api_retry');
  expect(retries.map((event) => [event['error_status'], event['error']])).toEqual([
    [429, 'rate_limit'],
    [429, 'rate_limit'],
  ]);
  expect(world.server.requests.map(({ status }) => status)).toEqual([429, 429, 200]);
  expect(reportedUsage(end)).toEqual([usualUsage.input, usualUsage.cacheRead, usualUsage.cacheWrite, usualUsage.output]);
});

test('CLI-05 a connection that is cut in the middle of a reply does not end the run', async () => {
  await using world = await openWorld();
  const end = await world.start('dropped').ended;
  expect(end).toMatchObject({ exitCode: 0, result: { subtype: 'success', is_error: false, result: 'Answered after the fault.' } });
  expect(world.server.requests[0]).toMatchObject({ fault: 'drop', ended: 'cut' });
});

test('CLI-06 on SIGINT it ends its running tool, tells it and leaves no process', async () => {
  await using world = await openWorld();
  const running = world.start('long-tool');
  await expect.poll(() => existsSync(path.join(world.project, 'started.txt')), { timeout: 40_000 }).toBe(true);
  // The tool is seen by the marker, so that not seeing it later means something.
  expect((await findLeftovers(world.marker)).some(({ command }) => command.includes('sleep 300'))).toBe(true);
  // In the first moment of a tool it may end without telling anything; this is about a tool that runs.
  await delay(1_000);
  running.kill('SIGINT');
  const end = await running.ended;
  expect(end.result).toMatchObject({ subtype: 'error_during_execution', terminal_reason: 'aborted_tools' });
  // The exit code says nothing: it is 0 here.
  expect(end).toMatchObject({ exitCode: 0, signal: null });
  await expect.poll(() => findLeftovers(world.marker), { timeout: 10_000 }).toEqual([]);
  expect(world.server.requests).toHaveLength(1);
});

test('CLI-07 two at once do not get into each other’s way', async () => {
  const ends = await Promise.all(
    [1, 2].map(async () => {
      await using world = await openWorld();
      return await world.start('fix').ended;
    }),
  );
  expect(ends.map(({ result }) => result['is_error'])).toEqual([false, false]);
  for (const end of ends) expect(reportedUsage(end)).toEqual([3600, 27_000, 2400, 180]);
});

test('CLI-08 what a sub-agent used is in modelUsage of the last result alone, not in the usage of all results together', async () => {
  await using world = await openWorld();
  const end = await world.start('delegate').ended;
  expect(await readFile(path.join(world.project, 'sub.txt'), 'utf8')).toBe('sub\n');
  expect(end).toMatchObject({ exitCode: 0, result: { subtype: 'success', is_error: false } });
  expect(reportedUsage(end)).toEqual(servedUsage(world.server));
  // A sub-agent that ends after the first answer starts another turn, with a `result` of its own.
  const results = end.events.filter(({ type }) => type === 'result');
  const inputs = results.map((result) => (result['usage'] as { input_tokens: number }).input_tokens);
  expect(inputs.reduce((total, input) => total + input, 0)).toBeLessThan(servedUsage(world.server)[0] ?? 0);
});
