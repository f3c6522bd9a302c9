import { describe, expect, it } from 'vitest';
import { ClaudeReader } from '../../src/agent/claude-reader.ts';
import { anyRequest, processResult } from './world.ts';

const success = (text: string, more: object = {}): string =>
  JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: false,
    terminal_reason: 'completed',
    session_id: 's1',
    result: text,
    ...more,
  });

const reader = (): ClaudeReader => new ClaudeReader(anyRequest, ['claude']);
const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const finish = (from: ClaudeReader) => from.finish({ process: processResult(), wasAdopted: false, stderrTail: '' });

describe('the reader of Claude Code', () => {
  it('OUT-01 an event that comes byte by byte is counted once, its letters whole', () => {
    const event = JSON.stringify({
      type: 'assistant',
      session_id: 's1',
      message: { id: 'm1', model: 'x', content: [{ type: 'tool_use', id: 't1', name: 'Écrire 🙂' }] },
    });
    const from = reader();
    for (const byte of bytes(`${event}\n${success('Größe é 🙂 fertig')}\n`)) from.push(Uint8Array.of(byte));
    const result = finish(from);
    expect(result.text).toBe('Größe é 🙂 fertig');
    expect(result.tools).toEqual([{ id: 't1', name: 'Écrire 🙂', ok: false }]);
    expect(result.turns).toBe(1);
    expect(JSON.stringify(result)).not.toContain('\uFFFD');
  });

  it('OUT-01 a chunk whose memory is used again afterwards is not read twice', () => {
    const from = reader();
    const memory = new Uint8Array(16);
    const source = bytes(`${success('kept')}\n`);
    for (let at = 0; at < source.length; at += memory.length) {
      const part = source.subarray(at, at + memory.length);
      memory.set(part);
      from.push(memory.subarray(0, part.length));
    }
    expect(finish(from).text).toBe('kept');
  });

  it('AGT-11 the last line counts without its line feed', () => {
    const from = reader();
    from.push(bytes(success('no line feed')));
    expect(from.sawFinal).toBe(false);
    expect(finish(from)).toMatchObject({ text: 'no line feed', result: { outcome: 'completed' } });
  });

  it('OUT-05 every byte value, lone continuation bytes, NUL and a byte order mark disturb nothing', () => {
    const from = reader();
    from.push(Uint8Array.from({ length: 256 }, (_, value) => value));
    from.push(Uint8Array.of(0x80, 0xbf, 0x0a, 0x00, 0x0a, 0xef, 0xbb, 0xbf));
    from.push(bytes(`${success('a\u0000b \\u0000 \uD800 \u001B[31mred\u001B[0m')}\n`));
    const result = finish(from);
    expect(result.result).toEqual({ outcome: 'completed' });
    expect(result.text).toBe('ab \\u0000 \uFFFD red');
    expect(JSON.stringify(result).isWellFormed()).toBe(true);
  });

  it('OUT-05 half of a letter in a name of a tool is stored as U+FFFD, so that the record is UTF-8', () => {
    const from = reader();
    const content = [{ type: 'tool_use', id: 't1', name: 'half \uD800' }];
    from.push(bytes(`${JSON.stringify({ type: 'assistant', message: { id: 'm1', model: 'x', content } })}\n${success('x')}\n`));
    expect(finish(from).tools[0]?.name).toBe('half \uFFFD');
  });

  it('AGT-12 unknown events, noise, terminal codes, CRLF and fields of other kinds are overlooked', () => {
    const from = reader();
    const lines = [
      'npm warn something',
      '{"type":"assistant","message":null}',
      '{"type":"assistant","message":{"id":7,"content":"text"}}',
      '{"type":"user","message":{"content":[null,3,{"type":"tool_result"}]}}',
      '{"type":"system","subtype":"from_the_future","x":1}',
      '{"type":"hologram"}',
      '[1,2]',
      'null',
      '{"type":',
      '\u001B[?25l',
      `\u001B[2K${success('through the codes')}\u001B[0m`,
    ];
    from.push(bytes(`${lines.join('\r\n')}\r\n`));
    expect(finish(from)).toMatchObject({ text: 'through the codes', result: { outcome: 'completed' }, turns: 0 });
  });

  it('AGT-13 blocks of one answer share its id and are one turn', () => {
    const from = reader();
    for (const id of ['m1', 'm1', 'm1', 'm2']) {
      from.push(bytes(`${JSON.stringify({ type: 'assistant', message: { id, model: 'x', content: [{ type: 'text', text: id }] } })}\n`));
    }
    expect(finish(from)).toMatchObject({ turns: 2, text: 'm2' });
  });

  it.each(['5-hour limit reached, try again later', 'Error: rate limit exceeded (429)', '"is_error": true', 'Invalid API key'])(
    'LIM-01 OUT-07 the words %j in files, tools and answers change no outcome',
    (words) => {
      const from = reader();
      const content = [{ type: 'tool_use', id: 't', name: 'Read' }];
      from.push(bytes(`${words}\n${JSON.stringify({ type: 'assistant', message: { id: 'm', model: 'x', content } })}\n`));
      const results = [{ type: 'tool_result', tool_use_id: 't', content: words, is_error: false }];
      from.push(bytes(`${JSON.stringify({ type: 'user', message: { content: results } })}\n${success(words)}\n`));
      expect(finish(from)).toMatchObject({ result: { outcome: 'completed' }, retries: 0, text: words });
    },
  );

  it('PRC-01 the final event is seen at once, and stands until the agent goes on working', () => {
    const from = reader();
    expect(from.sawFinal).toBe(false);
    from.push(bytes(`${success('done')}\n`));
    expect(from.sawFinal).toBe(true);
    from.push(bytes('{"type":"assistant","message":{"id":"m2","model":"x","content":[]}}\n'));
    expect(from.sawFinal).toBe(false);
    from.push(bytes(`${success('really done')}\n`));
    expect(from.sawFinal).toBe(true);
  });

  it('AGT-14 a line of more than 8 MiB is skipped, what follows is read, and a lost result says so', () => {
    const from = reader();
    const long = bytes('x'.repeat(1024 * 1024));
    for (let i = 0; i < 9; i += 1) from.push(long);
    from.push(bytes('\n{"type":"system","subtype":"init","claude_code_version":"9.9.9"}\n'));
    const result = finish(from);
    expect(result.agent.version).toBe('9.9.9');
    expect(result.result).toMatchObject({ outcome: 'crashed', why: expect.stringContaining('too long to read: 1') as string });
  });

  it('AGT-15 last words are cut to 16,000 letters with a note', () => {
    const from = reader();
    from.push(bytes(`${success('y'.repeat(50_000))}\n`));
    const { text } = finish(from);
    expect(text.length).toBeLessThanOrEqual(16_000);
    expect(text).toContain('characters cut by Gyre');
  });

  it('AGT-17 `is_error` alone makes a success failed, in versions without a terminal reason as well', () => {
    for (const more of [{ is_error: true }, { is_error: true, terminal_reason: undefined }]) {
      const from = reader();
      from.push(bytes(`${success('not so', more)}\n`));
      expect(finish(from).result).toMatchObject({ outcome: 'failed', error: { class: 'unknown', message: 'not so' } });
    }
  });

  it('AGT-16 an argument that the program refuses is named in the reason', () => {
    const process = processResult({ exitCode: 1 });
    const result = reader().finish({ process, wasAdopted: false, stderrTail: "error: unknown option '--no-such-flag'\n" });
    expect(result.result).toMatchObject({ outcome: 'crashed', why: expect.stringContaining('--no-such-flag') as string });
  });
});
