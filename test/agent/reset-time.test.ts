import { describe, expect, it } from 'vitest';
import { ClaudeReader } from '../../src/agent/claude-reader.ts';
import { CommandReader } from '../../src/agent/command-reader.ts';
import type { AgentReader } from '../../src/agent/index.ts';
import { ScriptedReader } from '../../src/agent/scripted-reader.ts';
import type { AgentOutcome } from '../../src/core/agent-result.ts';
import { anyRequest, processResult } from './world.ts';

// 23:00 in Berlin.
const endedAt = Date.UTC(2026, 10, 30, 22);
const nextDay = Date.UTC(2026, 11, 1, 1, 30);

const outcome = (
  reader: AgentReader,
  said: { readonly stdout?: string; readonly stderr?: string; readonly exitCode?: number },
): AgentOutcome => {
  reader.push(Buffer.from(said.stdout ?? '', 'utf8'));
  const process = processResult({ endedAt, exitCode: said.exitCode ?? 0 });
  return reader.finish({ process, wasAdopted: false, stderrTail: said.stderr ?? '' }).result;
};
const claude = (): AgentReader => new ClaudeReader(anyRequest, ['claude']);
const command = (): AgentReader => new CommandReader(anyRequest, ['fix']);
const scripted = (): AgentReader => new ScriptedReader(anyRequest, ['script']);
const refused = { type: 'result', subtype: 'success', is_error: true };
const line = (event: object): string => `${JSON.stringify(event)}\n`;

describe('an agent that ran into a limit', () => {
  it('LIM-03 Claude Code: the text of its error says when, tomorrow when today is over', () => {
    const stdout = line({ ...refused, api_error_status: 429, result: "You've hit your limit · resets 2:30am (Europe/Berlin)" });
    expect(outcome(claude(), { stdout, exitCode: 1 })).toMatchObject({
      outcome: 'failed',
      error: { class: 'rate-limit', resetAt: nextDay, message: "You've hit your limit · resets 2:30am (Europe/Berlin)" },
    });
  });

  it('LIM-03 Claude Code: the event about the limit is believed before the text', () => {
    const rejected = {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt: 1_796_083_200, rateLimitType: 'five_hour' },
    };
    const stdout = line(rejected) + line({ ...refused, api_error_status: 429, result: 'limit reached, resets 2:30am (UTC)' });
    expect(outcome(claude(), { stdout, exitCode: 1 })).toMatchObject({ error: { resetAt: 1_796_083_200_000 } });
    const allowed = line({ type: 'rate_limit_event', rate_limit_info: { status: 'allowed', resetsAt: 1_796_083_200 } });
    expect(outcome(claude(), { stdout: stdout.replace('\n', `\n${allowed}`), exitCode: 1 })).toMatchObject({
      error: { resetAt: Date.UTC(2026, 11, 1, 2, 30) },
    });
  });

  it('LIM-03 Claude Code: the error of versions without a field for it', () => {
    const stdout = line({ ...refused, result: `Claude AI usage limit reached|${nextDay / 1000}` });
    expect(outcome(claude(), { stdout, exitCode: 1 })).toMatchObject({ error: { class: 'rate-limit', resetAt: nextDay } });
  });

  it('LIM-03 a program says it on the last line of stderr or in its final event', () => {
    const stderr = 'starting\nlimit, resets 2:30am (Europe/Berlin)\n';
    const wanted = { outcome: 'failed', error: { class: 'rate-limit', resetAt: nextDay } };
    expect(outcome(command(), { stderr, exitCode: 1 })).toMatchObject(wanted);
    expect(outcome(scripted(), { stderr, exitCode: 1 })).toMatchObject(wanted);
    const said = line({ type: 'result', is_error: true, result: 'limit, resets 2:30am (Europe/Berlin)' });
    expect(outcome(command(), { stdout: said, exitCode: 1 })).toMatchObject(wanted);
    const field = line({ type: 'result', is_error: true, error: 'rate-limit', result: 'no more today', resets_at: nextDay / 1000 });
    expect(outcome(command(), { stdout: field, exitCode: 1 })).toMatchObject(wanted);
  });

  it('LIM-03 an unknown zone is read as the local one, and the message says so', () => {
    const result = outcome(command(), { stderr: 'limit, resets 2:30am (Middle/Earth)', exitCode: 1 });
    expect(result).toMatchObject({
      error: { message: expect.stringContaining('The time zone Middle/Earth of the reset time is not known') },
    });
  });

  it('LIM-01 the same words in ordinary output mean nothing', () => {
    const words = '5-hour limit reached, try again in 3h 12m\n';
    expect(outcome(command(), { stdout: words, stderr: words })).toEqual({ outcome: 'completed' });
    expect(outcome(scripted(), { stdout: words, stderr: words })).toEqual({ outcome: 'completed' });
    const good = line({ type: 'result', subtype: 'success', is_error: false, result: words });
    expect(outcome(claude(), { stdout: good })).toEqual({ outcome: 'completed' });
    // It failed, but over something else: what it had printed before is not its error.
    expect(outcome(command(), { stdout: words, stderr: `${words}boom`, exitCode: 1 })).toMatchObject({
      error: { class: 'unknown', resetAt: undefined },
    });
    // A refused login is not mended by waiting.
    const login = line({ ...refused, api_error_status: 401, result: 'Not logged in, try again in 5 minutes' });
    expect(outcome(claude(), { stdout: login, exitCode: 1 })).toMatchObject({ error: { class: 'auth', resetAt: undefined } });
  });
});
