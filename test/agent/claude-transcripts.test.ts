// Sessions of the real program, recorded (see transcripts/README.md), read again.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ClaudeReader } from '../../src/agent/claude-reader.ts';
import type { AgentRunResult } from '../../src/core/agent-result.ts';
import type { ProcessResult } from '../../src/process/index.ts';
import { anyRequest, processResult } from './world.ts';

const transcript = (name: string): Buffer => readFileSync(path.join(import.meta.dirname, 'transcripts/claude-2.1.332', `${name}.jsonl`));

const read = (name: string, changes: Partial<ProcessResult> = {}, chunkBytes = 997): AgentRunResult => {
  const reader = new ClaudeReader(anyRequest, ['claude']);
  const bytes = transcript(name);
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  return reader.finish({ process: processResult(changes), wasAdopted: false, stderrTail: '' });
};

const retryable = (name: string): unknown => {
  const { result } = read(name, { exitCode: 1 });
  return result.outcome === 'failed' ? result.error.retryable : result.outcome;
};

const opus = 'claude-opus-5-5';

describe('recorded sessions of Claude Code 2.1.332', () => {
  it('AGT-01 a session that edits, tests and ends is completed, with its tools, turns, words, version and session', () => {
    const result = read('fix');
    expect(result.result).toEqual({ outcome: 'completed' });
    expect(result.text).toBe('Done: sum.mjs written and the tests pass.');
    expect(result.tools.map(({ name, ok }) => [name, ok])).toEqual([
      ['Write', true],
      ['Bash', true],
    ]);
    expect(result.turns).toBe(3);
    expect(result.agent).toEqual({ id: 'claude', version: '2.1.332', channel: 'native', command: ['claude'] });
    expect(result.session).toEqual({ id: '00000000-0000-4000-8000-000000000001', resumable: true });
  });

  it('AGT-02 usage and cost equal what the model server counted', () => {
    const result = read('fix');
    expect(result.usage).toEqual([{ model: opus, input: 3600, cacheRead: 27_000, cacheWrite: 2400, output: 180 }]);
    expect(result.spend).toEqual({ usd: 0.0354, tokens: 33_180 });
    expect(result.usageSource).toBe('agent');
  });

  it('BUD-03 tokens of sub-agents are in the total, and two results of one session are not added up', () => {
    // 5 calls were served; the session's own `usage` counts 3 of them, over two result events.
    const result = read('subagent');
    expect(result.usage).toEqual([{ model: opus, input: 6000, cacheRead: 45_000, cacheWrite: 4000, output: 300 }]);
    expect(result.spend.usd).toBe(0.059);
    expect(result.tools.map((tool) => tool.name)).toContain('Bash');
    expect(result.turns).toBe(3);
    expect(result.result).toEqual({ outcome: 'completed' });
  });

  it('BUD-03 the call before a budget stop is in the total', () => {
    expect(read('budget', { exitCode: 1 }).spend).toEqual({ usd: 0.059, tokens: 55_300 });
  });

  it('L8 a cost that the program guessed for a model without a price is unknown, its tokens are not', () => {
    expect(read('wrong-model').spend).toEqual({ usd: undefined, tokens: 11_060 });
  });

  it.each([
    ['r401', 'auth', 401],
    ['no-key', 'auth', undefined],
    ['r402', 'billing', 402],
    ['r429-for-ever', 'rate-limit', 429],
    ['r500-for-ever', 'server', 500],
    ['refused', 'network', undefined],
    ['refusal', 'refusal', undefined],
    ['max-tokens', 'output-limit', undefined],
  ] as const)('AGT-03 a result that says success with is_error is failed: %s is of class %s', (name, errorClass, httpStatus) => {
    const { result } = read(name, { exitCode: 1 });
    expect(result).toMatchObject({ outcome: 'failed', error: { class: errorClass, httpStatus } });
    // The exit code alone never makes it a success.
    expect(read(name, { exitCode: 0 }).result.outcome).toBe('failed');
  });

  it('AGT-03 a refused key is told by the first retry, and a session ended over it is failed: auth, with no result of its own', () => {
    const lines = transcript('r401-sigint').toString('utf8').split('\n');
    const reader = new ClaudeReader(anyRequest, ['claude']);
    const seen = lines.map((line) => {
      reader.push(Buffer.from(`${line}\n`));
      return reader.sawFinal;
    });
    expect(seen.slice(0, 3)).toEqual([false, true, true]);
    const { result, retries } = read('r401-sigint', { end: 'after-result', exitCode: 0 });
    expect(result).toMatchObject({ outcome: 'failed', error: { class: 'auth', httpStatus: 401, retryable: false } });
    expect(retries).toBe(2);
    // Whom a person stopped is cancelled, whatever it waited for.
    expect(read('r401-sigint', { end: 'cancelled', exitCode: 0 }).result).toEqual({ outcome: 'cancelled' });
  });

  it('LIM-01 a refusal that passes (a login being renewed) ends nothing', () => {
    const result = read('r401-recovers');
    expect(result.result).toEqual({ outcome: 'completed' });
    expect(result.retries).toBe(2);
    const reader = new ClaudeReader(anyRequest, ['claude']);
    const [, retry = '', , answer = ''] = transcript('r401-recovers').toString('utf8').split('\n');
    reader.push(Buffer.from(`${retry}\n`));
    expect(reader.sawFinal).toBe(true);
    reader.push(Buffer.from(`${answer}\n`));
    expect(reader.sawFinal).toBe(false);
    // A rate limit is worth waiting for.
    const limited = new ClaudeReader(anyRequest, ['claude']);
    limited.push(transcript('r429-recovers').subarray(0, transcript('r429-recovers').indexOf('"assistant"')));
    expect(limited.sawFinal).toBe(false);
  });

  it('AGT-04 what another try later can mend is told apart from what a person must mend', () => {
    expect(['r429-for-ever', 'r500-for-ever', 'refused'].map(retryable)).toEqual([true, true, true]);
    expect(['r401', 'r402', 'refusal'].map(retryable)).toEqual([false, false, false]);
  });

  it.each([
    ['max-turns', 'turns'],
    ['budget', 'budget'],
    ['overflow-for-ever', 'context'],
  ] as const)('AGT-05 %s ends at the limit %s', (name, limit) => {
    expect(read(name, { exitCode: 1 }).result).toEqual({ outcome: 'limit', limit });
  });

  it.each(['r429-recovers', 'r529-recovers'])('LIM-01 retries that went well are counted and end nothing: %s', (name) => {
    const result = read(name);
    expect(result.retries).toBe(2);
    expect(result.result).toEqual({ outcome: 'completed' });
  });

  it('AGT-06 a context that was compacted on the way is no failure', () => {
    expect(read('overflow').result).toEqual({ outcome: 'completed' });
  });

  it('AGT-07 a refused write is one denial, though it is reported twice', () => {
    const result = read('outside');
    expect(result.denials).toEqual([{ tool: 'Write', by: 'policy' }]);
    expect(result.tools).toEqual([{ id: expect.any(String) as string, name: 'Write', ok: false }]);
  });

  it('AGT-08 an empty answer and an answer after thought are completed sessions', () => {
    expect(read('empty')).toMatchObject({ result: { outcome: 'completed' }, text: '' });
    expect(read('thinking')).toMatchObject({ result: { outcome: 'completed' }, text: 'Thought and answered.' });
  });

  it('AGT-09 a session that Gyre interrupted is cancelled; one that somebody else interrupted is failed, with exit code 0 in both', () => {
    expect(read('sigint-in-tool', { end: 'cancelled' }).result).toEqual({ outcome: 'cancelled' });
    expect(read('sigint-in-tool').result).toMatchObject({ outcome: 'failed', error: { class: 'unknown' } });
    expect(read('sigint-in-tool').tools).toEqual([{ id: expect.any(String) as string, name: 'Bash', ok: false }]);
  });

  it('CLM-05 a session without a result is crashed, whatever its exit code, and its spend is unknown', () => {
    expect(read('sigterm-in-tool', { exitCode: 143 }).result.outcome).toBe('crashed');
    const result = read('sigterm-in-tool', { exitCode: 0 });
    expect(result.result.outcome).toBe('crashed');
    expect(result.spend).toEqual({ usd: undefined, tokens: undefined });
    expect(result.usageSource).toBe('none');
  });

  it('AGT-10 a success that came after our cancel is cancelled, and after our deadline timed out', () => {
    expect(read('fix', { end: 'cancelled' }).result).toEqual({ outcome: 'cancelled' });
    expect(read('fix', { end: 'deadline' }).result).toEqual({ outcome: 'timed-out', limit: 'deadline', limitMs: 1000 });
    expect(read('fix', { end: 'idle' }).result).toEqual({ outcome: 'timed-out', limit: 'idle', limitMs: 500 });
  });

  it('PRC-01 a success whose process Gyre had to end stays completed; one that ended with another code of its own does not', () => {
    expect(read('fix', { end: 'after-result', exitCode: null, signal: 'SIGKILL' }).result).toEqual({ outcome: 'completed' });
    expect(read('fix', { exitCode: 3 }).result).toMatchObject({ outcome: 'failed', error: { class: 'agent-bug' } });
    expect(read('fix', { exitCode: null, signal: 'SIGKILL' }).result.outcome).toBe('failed');
  });

  it('OUT-01 a transcript read byte by byte gives the same result as read at once', () => {
    for (const name of ['refusal', 'subagent', 'refused']) expect(read(name, {}, 1)).toEqual(read(name, {}, 1_000_000));
  });
});
