// The ground that the other tests stand on: the network is closed, a missing agent is an error, a leftover process is found.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import { expect, test } from 'vitest';
import { findLeftovers } from '../leftovers.ts';
import { openRunFolder } from '../run-folder.ts';

// Set by scripts/test-agents.mjs when it could close the network, which it says when it could not.
const closed = process.env['GYRE_E2E_NETWORK'] === 'loopback';

test.skipIf(!closed)('E2E-01 loopback is the only network, so no agent needs another', async () => {
  expect(Object.keys(os.networkInterfaces())).toEqual(['lo']);
  const routes = (await readFile('/proc/net/route', 'utf8')).trim().split('\n').slice(1);
  expect(routes).toEqual([]);
});

test('E2E-02 a process that a run leaves behind fails its test and is ended', async () => {
  const folder = await openRunFolder({ leftoverMs: 500 });
  const child = spawn('sleep', ['300'], { env: { PATH: '/usr/bin:/bin', HOME: folder.home }, detached: true, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(() => findLeftovers(folder.marker), { timeout: 10_000 }).toEqual([{ pid: child.pid, command: 'sleep 300' }]);
  await expect(folder[Symbol.asyncDispose]()).rejects.toThrow(/left 1 processes: \d+ sleep 300/);
  expect(await ended).toEqual([null, 'SIGKILL']);
});
