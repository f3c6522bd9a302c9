import { readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { oddBytes, slowText } from '../testkit/agents/expected.ts';
import { waitUntil } from '../testkit/processes.ts';
import { collect, expectNoProblem, shell, useJobs } from './jobs.ts';

const jobs = useJobs();

/** Bytes of all files of the streams in a job folder. */
const storedBytes = async (dir: string): Promise<number> => {
  const names = (await readdir(dir)).filter((name) => /^std(?:out|err)\./.test(name));
  // A segment may be rotated away between the two looks.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(path.join(dir, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

describe('output', () => {
  test('OUT-01 letters cut between two reads arrive byte for byte, in the file and live', async () => {
    const job = await jobs.open('slow-letters');
    const out = collect(job);
    const result = await job.result;
    const bytes = await readFile(result.stdout.path);
    const text = bytes.toString();
    expect(JSON.parse(text)).toMatchObject({ type: 'result', result: slowText });
    expect(text).not.toContain('\uFFFD');
    expect(out.bytes().equals(bytes)).toBe(true);
    expect(out.cuts).toEqual([]);
  });

  test('OUT-05 all byte values, lone continuation bytes, NUL and a byte order mark stay as they are', async () => {
    const job = await jobs.open('bytes');
    const out = collect(job);
    const result = await job.result;
    const stdout = await readFile(result.stdout.path);
    expect(stdout.subarray(0, oddBytes.length).equals(oddBytes)).toBe(true);
    expect(out.bytes().equals(stdout)).toBe(true);
    expect((await readFile(result.stderr.path)).equals(oddBytes)).toBe(true);
    expect(result).toMatchObject({ exitCode: 0, stderr: { bytesSeen: oddBytes.length, cut: false } });
  });

  test('OUT-02 output is heard while the program runs', async () => {
    const job = await jobs.open('final-then-hang');
    const out = collect(job);
    await waitUntil(() => out.text().includes('"type":"result"'), { withinMs: 30_000 });
    job.end('after-result');
    expect((await job.result).end).toBe('after-result');
  });

  test('OUT-02 every listener hears everything, also one that comes after the end', async () => {
    const job = await jobs.open('chatty');
    const early = collect(job);
    const result = await job.result;
    const late = collect(job);
    const text = await readFile(result.stdout.path, 'utf8');
    await waitUntil(() => late.text() === text, { withinMs: 30_000 });
    expect(early.text()).toBe(text);
  });

  test('OUT-03 a flood is cut in the middle, head and tail are kept, memory and disk stay bounded, its last event is seen', async () => {
    const capBytes = 10_000_000;
    const job = await jobs.open('flood', { env: { FLOOD_MS: '6000' }, limits: { outputBytes: capBytes, deadlineMs: 55_000 } });
    let heard = 0;
    let lost = 0;
    let last = '';
    job.onStdout({
      bytes: (chunk) => {
        heard += chunk.length;
        last = Buffer.from(chunk).toString().slice(-2_000);
      },
      cut: (bytes) => {
        lost += bytes;
      },
    });
    let stored = 0;
    let memory = 0;
    const over = new AbortController();
    const looking = (async () => {
      while (!over.signal.aborted) {
        stored = Math.max(stored, await storedBytes(job.jobDir));
        memory = Math.max(memory, process.memoryUsage().rss);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const result = await job.result;
    over.abort();
    await looking;

    expectNoProblem(result);
    expect(result).toMatchObject({ end: 'exited', exitCode: 0, stdout: { bytesKept: capBytes, cut: true } });
    expect(result.stdout.bytesSeen).toBeGreaterThan(2 * capBytes);
    expect(stored).toBeLessThanOrEqual(capBytes + 1_100_000);
    expect(memory).toBeLessThan(300 * 1024 * 1024);
    expect(heard + lost).toBe(result.stdout.bytesSeen);
    expect(last).toContain('"type":"result"');
    const file = await readFile(result.stdout.path, 'latin1');
    expect(file.length).toBeLessThanOrEqual(capBytes + 100);
    expect(file.startsWith('000000000000 ')).toBe(true);
    expect(file).toContain(`\n[... ${result.stdout.bytesSeen - capBytes} bytes cut by Gyre ...]\n`);
    expect(file.trimEnd().split('\n').at(-1)).toContain('"type":"result"');
  });

  test('OUT-03 the other stream of a flood has its own share', async () => {
    const job = await jobs.open('silent', { ...shell('yes | head -c 3000000 >&2; echo out'), limits: { outputBytes: 1_000 } });
    const result = await job.result;
    expect(result.stderr).toMatchObject({ bytesSeen: 3_000_000, bytesKept: 1_000, cut: true });
    expect(result.stdout).toMatchObject({ bytesSeen: 4, cut: false });
  });

  test('OUT-03 nothing is kept where nothing may be, and the program ends well', async () => {
    const job = await jobs.open('silent', { ...shell('echo something'), limits: { outputBytes: 0 } });
    const out = collect(job);
    expect(await job.result).toMatchObject({ exitCode: 0, stdout: { bytesSeen: 10, bytesKept: 0, cut: true } });
    expect(out.cuts).toEqual([10]);
  });
});
