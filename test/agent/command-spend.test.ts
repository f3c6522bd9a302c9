import { describe, expect, it } from 'vitest';
import { CommandReader } from '../../src/agent/command-reader.ts';
import type { EarlierSession } from '../../src/agent/index.ts';
import type { AgentRunResult } from '../../src/core/agent-result.ts';
import { addSpend } from '../../src/core/spend.ts';
import { runAgent } from './run-spec.ts';
import { anyRequest, processResult, World } from './world.ts';

const read = (lines: readonly (string | object)[], earlier: readonly EarlierSession[] = []): AgentRunResult => {
  const reader = new CommandReader({ ...anyRequest, earlier }, ['sh', '-c', 'x']);
  reader.push(Buffer.from(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')));
  return reader.finish({ process: processResult(), wasAdopted: false, stderrTail: '' });
};

const totalLine = (usd: number, tokens: number): object => ({
  session_id: 's',
  cumulative: true,
  cost_usd: usd,
  usage: { input: tokens, output: 0 },
});

describe('spend that a command reports', () => {
  it('AGT-40 lines are added up, per model, and are no part of the text', () => {
    const result = read([
      'working',
      { model: 'small', usage: { input: 10, output: 2 }, cost_usd: 0.25 },
      {
        model: 'big',
        usage: { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 1000, cache_creation_input_tokens: 50 },
        cost_usd: 0.5,
      },
      { model: 'small', usage: { input: 1, output: 1, cacheRead: 7, cacheWrite: 3 } },
      'ready',
    ]);
    expect(result.usage).toEqual([
      { model: 'small', input: 11, cacheRead: 7, cacheWrite: 3, output: 3 },
      { model: 'big', input: 100, cacheRead: 1000, cacheWrite: 50, output: 20 },
    ]);
    expect(result.spend).toEqual({ usd: 0.75, tokens: 1194 });
    expect(result.usageSource).toBe('agent');
    expect(result.text).toBe('working\nready');
  });

  it.each([
    [
      { inputTokens: 5, outputTokens: 6, cacheReadInputTokens: 7, cacheCreationInputTokens: 8 },
      { input: 5, cacheRead: 7, cacheWrite: 8, output: 6 },
    ],
    [
      { input: 5, output: 6, cache_read: 7, cache_write: 8 },
      { input: 5, cacheRead: 7, cacheWrite: 8, output: 6 },
    ],
    [
      { prompt_tokens: 12, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 7 } },
      { input: 5, cacheRead: 7, cacheWrite: 0, output: 6 },
    ],
    [
      { input_tokens: 12, cached_input_tokens: 7, output_tokens: 6 },
      { input: 5, cacheRead: 7, cacheWrite: 0, output: 6 },
    ],
    [
      { input_tokens: 12, output_tokens: 6, input_tokens_details: { cached_tokens: 7 } },
      { input: 5, cacheRead: 7, cacheWrite: 0, output: 6 },
    ],
  ])('AGT-41 a common spelling of usage is read: %j', (usage, wanted) => {
    expect(read([{ usage }]).usage).toEqual([{ model: 'unnamed', ...wanted }]);
  });

  it('L8 no numbers are unknown spend; numbers of one kind leave the other unknown', () => {
    expect(read(['hello', { usage: 'run it like so' }, { cost_usd: -1 }, { cost_usd: 'free' }, { usage: {} }])).toMatchObject({
      usageSource: 'none',
      spend: { usd: undefined, tokens: undefined },
    });
    expect(read([{ cost_usd: 0.5 }]).spend).toEqual({ usd: 0.5, tokens: undefined });
    expect(read([{ usage: { input: 3, output: 4 } }]).spend).toEqual({ usd: undefined, tokens: 7 });
    expect(read([{ cost_usd: 0, usage: { input: 0, output: 0 } }]).spend).toEqual({ usd: 0, tokens: 0 });
  });

  it('BUD-01 running totals of one session are not added up within an attempt', () => {
    expect(read([totalLine(0.1, 10), totalLine(0.25, 25), totalLine(0.4, 40)]).spend).toEqual({ usd: 0.4, tokens: 40 });
  });

  it('BUD-01 three attempts that resume one session with totals 0.10, 0.25, 0.40 cost 0.10, 0.15, 0.15', async () => {
    const spends: AgentRunResult[] = [];
    for (const total of [0.1, 0.25, 0.4]) {
      await using world = await World.open();
      const line = { session_id: 'same', cumulative: true, cost_usd: total, usage: { input: total * 1000, output: 0 } };
      const adapter = world.agent({ use: 'command', command: `echo '${JSON.stringify(line)}'`, prompt: 'stdin' });
      const request = await world.request({ attempt: spends.length + 1, earlier: spends });
      spends.push(await runAgent({ adapter, request, dir: world.job }));
    }
    expect(spends.map((result) => Number(result.spend.usd?.toFixed(4)))).toEqual([0.1, 0.15, 0.15]);
    expect(spends.map((result) => result.spend.tokens)).toEqual([100, 150, 150]);
    expect(addSpend(spends.map((result) => result.spend)).usd).toBeCloseTo(0.4, 9);
    expect(spends.map((result) => result.session.id)).toEqual(['same', 'same', 'same']);
  });

  it('BUD-01 a total that fell was started anew, another session owes nothing to the first', () => {
    const earlier = [read([{ session_id: 's', cumulative: true, cost_usd: 0.4 }])];
    expect(read([{ session_id: 's', cumulative: true, cost_usd: 0.1 }], earlier).spend.usd).toBe(0.1);
    expect(read([{ session_id: 't', cumulative: true, cost_usd: 0.5 }], earlier).spend.usd).toBe(0.5);
    expect(read([{ session_id: 's', cost_usd: 0.5 }], earlier).spend.usd).toBe(0.5);
  });

  it('BUD-01 of two total_cost_usd in one process the last counts, whatever an earlier attempt spent', () => {
    const lines = [
      { type: 'result', result: 'a', session_id: 's', total_cost_usd: 0.2 },
      { type: 'result', result: 'b', session_id: 's', total_cost_usd: 0.3 },
    ];
    expect(read(lines).spend.usd).toBe(0.3);
    expect(read(lines, [read(lines)]).spend.usd).toBe(0.3);
  });

  it('BUD-03 usage lines of sub-agents count, priced apart by their model', () => {
    const result = read([
      { model: 'own', usage: { input: 900, output: 100 } },
      { model: 'child', usage: { input: 4000, output: 1000 }, parent: 'a' },
      { model: 'child', usage: { input: 4500, output: 500 }, parent: 'b' },
    ]);
    expect(result.spend.tokens).toBe(11_000);
    expect(result.usage.map((part) => part.model)).toEqual(['own', 'child']);
  });
});

describe('the end of a command', () => {
  it('CLM-03 a perfect success event is only a claim: completed, and nothing more is said', () => {
    const result = read([{ type: 'result', subtype: 'success', is_error: false, result: 'All tests pass, I promise.' }]);
    expect(result.result).toEqual({ outcome: 'completed' });
    expect(result.text).toBe('All tests pass, I promise.');
  });

  it('CLM-01 a promise in the text is no final event', () => {
    const reader = new CommandReader(anyRequest, []);
    reader.push(Buffer.from('<promise>COMPLETE</promise>\nnot finished, so I do not print DONE\n{"type":"result"}\n{"result":"x"}\n'));
    expect(reader.sawFinal).toBe(false);
    reader.push(Buffer.from('{"type":"result","is_error":false}\n'));
    expect(reader.sawFinal).toBe(true);
  });

  it('AGT-42 a final event that says error is failed with exit code 0', () => {
    expect(read([{ type: 'result', is_error: true, result: 'no key' }]).result).toMatchObject({
      outcome: 'failed',
      error: { class: 'unknown', message: 'no key' },
    });
  });

  it('LIM-01 OUT-07 a command that talks of limits and errors and ends with 0 is completed', () => {
    const words = [
      '5-hour limit reached, try again later',
      '0 errors',
      '"is_error": false',
      'error handling added',
      '    at Object.<anonymous> (a.js:1:1)',
    ];
    expect(read(words)).toMatchObject({ result: { outcome: 'completed' }, retries: 0, text: words.join('\n').trim() });
  });

  it('AGT-43 the newest 16,000 letters of a flood are its last words', () => {
    const { text } = read([...Array.from({ length: 20_000 }, (_, i) => `line ${i}`), 'the end']);
    expect(text.length).toBeLessThanOrEqual(16_000);
    expect(text.endsWith('line 19999\nthe end')).toBe(true);
    expect(text).toMatch(/^\[\.\.\. \d+ earlier lines left out by Gyre \.\.\.\]/);
  });

  it('AGT-44 with `prompt: file` nothing comes on stdin and the file is there', async () => {
    await using world = await World.open();
    const adapter = world.agent({ use: 'command', command: 'wc -c; cat "$GYRE_PROMPT_FILE"', prompt: 'file' });
    const result = await runAgent({ adapter, request: await world.request({}, 'the prompt\n'), dir: world.job });
    expect(result.text.replace(/^ +/, '')).toBe('0\nthe prompt');
  });

  it('AGT-45 with `prompt: stdin` the prompt is on stdin and in the file, and the title is in the environment as it is', async () => {
    await using world = await World.open();
    const adapter = world.agent({ use: 'command', command: 'cat; cat "$GYRE_PROMPT_FILE"; printf %s "$GYRE_TASK_TITLE"', prompt: 'stdin' });
    const request = await world.request({ taskTitle: '$(touch owned) `x` "é" ; rm -rf .' }, 'the prompt\n');
    const result = await runAgent({ adapter, request, dir: world.job });
    expect(result.text).toBe(`the prompt\nthe prompt\n${request.taskTitle}`);
  });
});
