import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseScenarios, readScenarios, standardScenarios, startModelServer, usualUsage } from '../testkit/model-server/index.ts';
import { at, eventually, paths, post, readUntilBroken, requestBody, streamed, textOf, wires } from './client.ts';

const refused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });

const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gyre-models ü '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

describe('the server', () => {
  test('MDL-70 a hundred conversations at once each get their own next step', async () => {
    const scenarios = { count: Array.from({ length: 100 }, (_, i) => ({ text: `step ${i}`, usage: { output: i } })) };
    await using server = await startModelServer({ scenarios });
    const ask = async (turn: number): Promise<void> => {
      const wire = wires[turn % wires.length] ?? 'chat';
      const past = Array.from({ length: turn }, () => [
        { role: 'assistant', content: 'before' },
        { role: 'user', content: 'on' },
      ]).flat();
      const turns = [{ role: 'user', content: '[[s:count]]' }, ...past];
      const body = requestBody(wire, '', { [wire === 'responses' ? 'input' : 'messages']: turns });
      const { data } = await streamed(server.url + paths[wire], body);
      expect(JSON.stringify(data)).toContain(`step ${turn}"`);
    };
    await Promise.all(Array.from({ length: 100 }, (_, turn) => ask(turn)));
    expect(server.requests).toHaveLength(100);
    const output = server.requests.reduce((total, { usage }) => total + (usage?.output ?? 0), 0);
    expect(output).toBe((99 * 100) / 2);
  });

  test('L13 after its end nothing listens and nothing waits, whatever hung', async () => {
    const scenarios = {
      hang: [{ faults: [{ fault: 'hang', at: 'start', times: 'always' }] }],
      stall: [{ faults: [{ fault: 'hang', at: 'middle', times: 'always' }], text: 'x' }],
      slow: [{ faults: [{ fault: 'slow', chunkMs: 1_000_000, times: 'always' }], text: 'x' }],
    } as const;
    const server = await startModelServer({ scenarios });
    const asked = Object.keys(scenarios).flatMap((name) =>
      wires.map(async (wire) => (await post(server.url + paths[wire], requestBody(wire, `[[s:${name}]]`, { stream: true }))).text()),
    );
    const ended = Promise.allSettled(asked);
    await eventually(() => server.requests.filter(({ fault }) => fault !== undefined).length).toBe(asked.length);
    await server[Symbol.asyncDispose]();
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await refused(server.port)).toBe(true);
    await eventually(() => server.requests.every((request) => request.ended === 'cut')).toBe(true);
    expect(process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap')).toEqual([]);
    // A second end is no error.
    await server[Symbol.asyncDispose]();
  });

  test('MDL-71 two servers have two ports; a taken port is an error', async () => {
    await using first = await startModelServer({ scenarios: {} });
    await using second = await startModelServer({ scenarios: {} });
    expect(first.port).not.toBe(second.port);
    await expect(startModelServer({ scenarios: {}, port: first.port })).rejects.toThrow(/EADDRINUSE/);
  });

  test('MDL-72 what is kept of the requests is bounded, and every one is logged once it has ended', async () => {
    const logged: string[] = [];
    await using server = await startModelServer({
      scenarios: standardScenarios,
      requestsMax: 2,
      log: ({ n, ended, status }) => logged.push(`${n} ${ended} ${status}`),
    });
    for (let i = 0; i < 3; i++) await (await post(server.url + paths.chat, requestBody('chat', '[[s:idle]]'))).text();
    expect(server.requests.map(({ n }) => n)).toEqual([2, 3]);
    await eventually(() => logged).toEqual(['1 whole 200', '2 whole 200', '3 whole 200']);
  });

  test('MDL-73 a call that says nothing of its cost has the usual one', async () => {
    await using server = await startModelServer({ scenarios: standardScenarios });
    await (await post(server.url + paths.chat, requestBody('chat', '[[s:idle]]'))).text();
    expect(server.requests[0]?.usage).toEqual(usualUsage);
  });
});

const start = (...args: readonly string[]) => {
  const main = path.join(import.meta.dirname, '../testkit/model-server/main.ts');
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};

describe('the program', () => {
  test('MDL-80 it says its address, plays scenarios from a file, logs without bodies, and ends on SIGTERM', async () => {
    const folder = await temporaryFolder();
    const [file, log] = [path.join(folder, 'scenarios.json'), path.join(folder, 'log.jsonl')];
    await writeFile(file, JSON.stringify({ own: { match: '^please', steps: [{ text: 'from the file' }] } }));
    const child = start('--port', '0', '--scenarios', file, '--log', log);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const url = /^Scripted model at (http:\S+)$/.exec(line)?.[1] ?? '';
    const body: unknown = await (await post(url + paths.anthropic, requestBody('anthropic', 'please do'))).json();
    expect(textOf('anthropic', body)).toBe('from the file');
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    expect(lines.map((entry) => at(JSON.parse(entry), 'played', 'scenario'))).toEqual(['own']);
    expect(lines.join('')).not.toContain('please do');
  });

  test('L13 it ends on SIGINT at once, a slow reply on its way or not', async () => {
    const file = path.join(await temporaryFolder(), 'scenarios.json');
    await writeFile(file, JSON.stringify({ slow: [{ text: 'x', faults: [{ fault: 'slow', chunkMs: 1_000_000 }] }] }));
    const child = start('--port', '0', '--scenarios', file);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const response = await post(line.replace(/^.* /, '') + paths.chat, requestBody('chat', '[[s:slow]]', { stream: true }));
    const read = readUntilBroken(response);
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(await read).toMatchObject({ broken: true });
  });

  test('MDL-81 a bad scenario file ends it with exit 2 and the place of the mistake', async () => {
    const folder = await temporaryFolder();
    const file = path.join(folder, 'scenarios.json');
    await writeFile(file, JSON.stringify({ fix: [{ ops: [{ op: 'write', path: 'a' }] }] }));
    const child = start('--port', '0', '--scenarios', file);
    const said = child.stderr.toArray();
    expect(await once(child, 'exit')).toEqual([2, null]);
    expect(Buffer.concat((await said) as Buffer[]).toString()).toBe('fix.steps[0].ops[0]: content is missing\n');
  });
});

describe('scenario files', () => {
  test.each([
    [[], 'scenarios: not an object'],
    [{ a: 7 }, 'a.steps: not a list'],
    [{ a: { step: [] } }, 'a: unknown key step; known: match, steps'],
    [{ a: [{ txt: 'x' }] }, 'a.steps[0]: unknown key txt'],
    [{ a: [{ ops: [{ op: 'fly' }] }] }, 'a.steps[0].ops[0]: unknown op fly'],
    [{ a: [{ faults: [{ fault: 'slow' }] }] }, 'a.steps[0].faults[0]: chunkMs is missing'],
    [{ a: [{ faults: [{ fault: 'drop', time: 2 }] }] }, 'a.steps[0].faults[0]: unknown key time'],
    [{ a: [{ usage: { in: 1 } }] }, 'a.steps[0].usage: unknown key in'],
    [{ a: { match: 7, steps: [] } }, 'a.match: neither'],
  ])('MDL-82 %j is refused', (value, sentence) => {
    expect(() => parseScenarios(value)).toThrow(sentence);
  });

  test('MDL-83 the standard scenarios pass their own check, and a module may hold functions', async () => {
    expect(Object.keys(parseScenarios(standardScenarios))).toEqual(Object.keys(standardScenarios));
    const file = path.join(await temporaryFolder(), 'own.mjs');
    await writeFile(file, 'export default { own: { match: (said) => said === "x", steps: [{ text: () => "y" }] } };');
    expect(await readScenarios(file)).toMatchObject({ own: { steps: [{}] } });
  });
});
