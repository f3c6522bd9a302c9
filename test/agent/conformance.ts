// What every agent adapter must hold, tried with real processes. A new adapter joins by telling how its agent is made to behave.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../src/core/loop-definition.ts';
import { carriers, runAgent } from './run-spec.ts';
import { limits, World } from './world.ts';

export type Behaviour =
  /** Checks that it has the whole prompt, writes `done.txt`, ends well. */
  | 'work'
  /** Writes its environment to `environment.json`, ends well. */
  | 'environment'
  /** Ends with an exit code that is not 0. */
  | 'fail'
  /** Kills itself with SIGKILL. */
  | 'die'
  /** Prints `ready` and works until it is asked to end; then reports success with exit code 0, if it can. */
  | 'late-success'
  /** Never says anything and never ends. */
  | 'silent'
  /** Prints bytes that are no text and lines that look like failures, ends well. */
  | 'garbage'
  /** Announces success and never ends. */
  | 'final-then-hang';

export interface ConformingAgent {
  /** The definition of an agent that behaves so, using files of the world if it must. */
  readonly make: (world: World, behaviour: Behaviour) => Promise<AgentDefinition>;
  /** A definition whose program is not there. */
  readonly missing: AgentDefinition;
  /** Whether the adapter knows an announcement of the end before the end of the process. */
  readonly announcesEnd: boolean;
  /** Names of the environment that this agent gets beyond what all get. */
  readonly ownNames: readonly string[];
}

const engineEnvironment = {
  LC_TIME: 'de_DE.UTF-8',
  XDG_CONFIG_HOME: '/xdg',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  SSL_CERT_FILE: '/certs',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  ANTHROPIC_API_KEY: 'model key',
  OPENAI_API_KEY: 'other model key',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  TERM: 'xterm-256color',
  GIT_DIR: '/elsewhere/.git',
  GIT_AUTHOR_NAME: 'Somebody',
  GITHUB_TOKEN: 'secret',
  AWS_SECRET_ACCESS_KEY: 'secret',
  NPM_TOKEN: 'secret',
  DATABASE_URL: 'secret',
  NODE_TEST_CONTEXT: 'child-v8',
  NODE_OPTIONS: '--max-old-space-size=64',
  npm_config_cache: '/npm',
};
const kept = ['LC_TIME', 'XDG_CONFIG_HOME', 'HTTPS_PROXY', 'SSL_CERT_FILE'];

const longPrompt = (): string => {
  const body = 'Zeile mit é und 🙂, wie Menschen sie schreiben.\n'.repeat(6200);
  return `${body}hash ${createHash('sha256').update(body).digest('hex')}\n`;
};

export const agentConformance = (name: string, agent: ConformingAgent): void => {
  describe(`every agent: ${name}`, () => {
    it('PRC-09 gets a prompt of 300 KB whole, with no argument over 8 KB', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'work'));
      const prompt = longPrompt();
      expect(Buffer.byteLength(prompt)).toBeGreaterThan(300_000);
      const request = await world.request({}, prompt);
      const { args, command } = adapter.spec(request);
      expect(Math.max(...[command, ...args].map((entry) => Buffer.byteLength(entry)))).toBeLessThan(8192);
      const result = await runAgent({ adapter, request, dir: world.job });
      expect(result.result).toEqual({ outcome: 'completed' });
      expect(await readFile(path.join(world.workspace, 'done.txt'), 'utf8')).toContain('hash');
      expect(result.agent).toMatchObject({ id: adapter.id, channel: adapter.channel, command: [command, ...args] });
    });

    it('AGT-20 a prompt that was cut short does not pass for the whole', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'work'));
      const result = await runAgent({ adapter, request: await world.request({}, 'short\n'), dir: world.job });
      expect(result.result.outcome).not.toBe('completed');
    });

    it('AGT-21 gets the allowed part of the environment, what it works on, and nothing else', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'environment'), engineEnvironment);
      const request = await world.request();
      const result = await runAgent({ adapter, request, dir: world.job });
      expect(result.result).toEqual({ outcome: 'completed' });
      const seen = JSON.parse(await readFile(path.join(world.workspace, 'environment.json'), 'utf8')) as Record<string, string>;
      // PWD, SHLVL and _ are of the shell's making.
      const names = Object.keys(seen).filter((key) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(key));
      const gyre = ['GYRE_ATTEMPT', 'GYRE_MARK', 'GYRE_PROMPT_FILE', 'GYRE_RUN', 'GYRE_TASK', 'GYRE_TASK_TITLE'];
      expect(names.sort()).toEqual(['PATH', 'HOME', 'TERM', ...kept, ...agent.ownNames, ...gyre].sort());
      expect(seen).toMatchObject({ TERM: 'dumb', GYRE_TASK: request.task, GYRE_TASK_TITLE: request.taskTitle, GYRE_ATTEMPT: '1' });
      expect(seen['GYRE_PROMPT_FILE']).toBe(request.promptFile);
    });

    it('L8 spend is a number that the agent gave, or nothing for no model, or unknown', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'environment'));
      const { usageSource, spend } = await runAgent({ adapter, request: await world.request(), dir: world.job });
      if (usageSource === 'none') expect(spend).toEqual({ usd: undefined, tokens: undefined });
      else if (usageSource === 'no-model') expect(spend).toEqual({ usd: 0, tokens: 0 });
      else expect(spend).toEqual({ usd: 0.01, tokens: 135 });
      expect(adapter.capabilities.usage === 'none').toBe(usageSource === 'no-model');
    });

    it('AGT-22 another exit code than 0 is never completed, and its last line on stderr is kept', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'fail'));
      const result = await runAgent({ adapter, request: await world.request(), dir: world.job });
      expect(['failed', 'crashed']).toContain(result.result.outcome);
      expect(result.process.exitCode).not.toBe(0);
      expect(result.stderrTail).toContain('a last word on stderr');
    });

    it('AGT-23 an agent that is killed by somebody else is crashed', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'die'));
      const result = await runAgent({ adapter, request: await world.request(), dir: world.job });
      expect(result.result.outcome).toBe('crashed');
    });

    it('AGT-24 a cancelled agent is cancelled, also when it reports success and exit code 0 afterwards', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'late-success'));
      const request = await world.request();
      const result = await runAgent({
        adapter,
        request,
        dir: world.job,
        onStart: (started, reader) => {
          const push = reader.push.bind(reader);
          reader.push = (chunk) => {
            push(chunk);
            if (Buffer.from(chunk).includes('ready')) started.end('cancelled');
          };
        },
      });
      expect(result.result).toEqual({ outcome: 'cancelled' });
      expect(await carriers(request.marker)).toEqual([]);
    });

    it.each(['deadline', 'idle'] as const)('L9 an agent that never ends is timed out by its %s', async (limit) => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'silent'));
      const set = limit === 'deadline' ? { deadlineMs: 1500 } : { idleMs: 1500 };
      const request = await world.request({ limits: { ...limits, ...set } });
      const result = await runAgent({ adapter, request, dir: world.job });
      expect(result.result).toEqual({ outcome: 'timed-out', limit, limitMs: 1500 });
      expect(await carriers(request.marker)).toEqual([]);
    });

    it('OUT-05 OUT-07 bytes that are no text and words that sound like failures end nothing', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'garbage'));
      const result = await runAgent({ adapter, request: await world.request(), dir: world.job });
      expect(result.result).toEqual({ outcome: 'completed' });
      expect(result.text).toContain('All done.');
      // oxlint-disable-next-line no-control-regex
      expect(result.text).not.toMatch(/[\u0000-\u0008\u000B-\u001F]/);
      expect(JSON.stringify(result).isWellFormed()).toBe(true);
    });

    it('AGT-25 a program that is not there cannot be used, and the sentence says what to do', async () => {
      await using world = await World.open();
      const probe = await world.agent(agent.missing).probe();
      expect(probe).toMatchObject({ installed: false, version: undefined });
      expect(probe.problem).toMatch(/^.+\. \S.+\.$/);
    });

    if (!agent.announcesEnd) return;
    it('PRC-01 an agent that announced success and never ends is ended, and is completed', async () => {
      await using world = await World.open();
      const adapter = world.agent(await agent.make(world, 'final-then-hang'));
      const request = await world.request();
      const result = await runAgent({ adapter, request, dir: world.job, resultGraceMs: 300 });
      expect(result.result).toEqual({ outcome: 'completed' });
      expect(result.text).toBe('All done.');
      expect(result.process.orphansKilled).toBe(1);
      expect(await carriers(request.marker)).toEqual([]);
    });
  });
};
