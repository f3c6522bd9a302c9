import { describe, expect, it } from 'vitest';
import { agentEnvironment, knownAgents } from '../../src/agent/index.ts';
import { environmentOf } from '../../src/agent/known-agents.ts';
import { anyRequest, World } from './world.ts';

describe('the environment of an agent', () => {
  it('AGT-30 a name passes by itself, by its beginning, or not at all; a taken-out name does not pass', () => {
    const env = { A: '1', AB: '2', AC: '3', B: '4', C: undefined };
    expect(agentEnvironment(env, ['A'])).toEqual({ A: '1', TERM: 'dumb' });
    expect(agentEnvironment(env, ['A*', '!AC', 'C'])).toEqual({ A: '1', AB: '2', TERM: 'dumb' });
    expect(agentEnvironment(env, ['A*', '!A*'])).toEqual({ TERM: 'dumb' });
    expect(agentEnvironment({ TERM: 'xterm' }, [])).toEqual({ TERM: 'dumb' });
  });

  it('AGT-31 a session around Gyre does not make the agent a part of itself', () => {
    const env = {
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SSE_PORT: '1',
      CLAUDECODE: '1',
      CLAUDE_CODE_OAUTH_TOKEN: 't',
      CLAUDE_CONFIG_DIR: '/c',
    };
    expect(Object.keys(agentEnvironment(env, environmentOf('claude'))).sort()).toEqual([
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CONFIG_DIR',
      'TERM',
    ]);
  });

  it('AGT-32 cloud credentials reach Claude Code only where the user switched that cloud on', async () => {
    await using world = await World.open();
    const claude = { use: 'claude', model: undefined, effort: undefined, args: [], command: undefined } as const;
    const cloud = { AWS_SECRET_ACCESS_KEY: 'k', GOOGLE_APPLICATION_CREDENTIALS: 'g' };
    const names = (env: Record<string, string>): readonly string[] =>
      Object.keys(world.agent(claude, { ...cloud, ...env }).spec(anyRequest).env);
    expect(names({})).not.toContain('AWS_SECRET_ACCESS_KEY');
    expect(names({ CLAUDE_CODE_USE_BEDROCK: '1' })).toContain('AWS_SECRET_ACCESS_KEY');
    expect(names({ CLAUDE_CODE_USE_BEDROCK: '1' })).not.toContain('GOOGLE_APPLICATION_CREDENTIALS');
    expect(names({ CLAUDE_CODE_USE_VERTEX: '1' })).toContain('GOOGLE_APPLICATION_CREDENTIALS');
  });

  it('AGT-33 an engine without HOME gives its agents the home folder it was told', async () => {
    await using world = await World.open();
    const agent = world.agent({ use: 'command', command: 'true', prompt: 'stdin' }, { HOME: undefined });
    expect(agent.spec(anyRequest).env['HOME']).toBe('/nowhere');
  });
});

describe('the command line of Claude Code', () => {
  it('AGT-34 model, effort, budget and own arguments are given, own arguments last', async () => {
    await using world = await World.open();
    const agent = world.agent({ use: 'claude', model: 'opus', effort: 'high', args: ['--max-turns', '9'], command: undefined });
    const { args, command, askSignal, stdin } = agent.spec({ ...anyRequest, budgetUsd: 0.5 });
    expect(command).toBe('claude');
    expect(args.join(' ')).toBe(
      '-p --output-format stream-json --verbose --allowedTools Bash --permission-mode acceptEdits --model opus --effort high --max-budget-usd 0.500000 --max-turns 9',
    );
    expect(askSignal).toBe('SIGINT');
    expect(stdin).toEqual({ kind: 'file', path: anyRequest.promptFile });
    expect(agent.label).toBe('claude (opus)');
  });

  it('AGT-35 nothing that was not asked for is given', async () => {
    await using world = await World.open();
    const { args } = world.agent({ use: 'claude', model: undefined, effort: undefined, args: [], command: undefined }).spec(anyRequest);
    expect(args).not.toContain('--model');
    expect(args).not.toContain('--effort');
    expect(args).not.toContain('--max-budget-usd');
  });
});

describe('known agents', () => {
  it('AGT-36 each has a name and a command of its own, and those that work natively stand first', () => {
    expect(new Set(knownAgents.map((agent) => agent.name)).size).toBe(knownAgents.length);
    expect(new Set(knownAgents.map((agent) => agent.command)).size).toBe(knownAgents.length);
    expect(knownAgents.map((agent) => agent.name)).toEqual(
      expect.arrayContaining(['claude', 'codex', 'opencode', 'pi', 'gemini', 'copilot']),
    );
    const usable = knownAgents.map((agent) => agent.usable);
    expect(usable.lastIndexOf('native')).toBeLessThan(usable.indexOf('command'));
  });
});
