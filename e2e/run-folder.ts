// One test's folder: an empty home, a small project under git, and the proof that nothing of the run is left.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Leftover } from './leftovers.ts';
import { findLeftovers } from './leftovers.ts';

const sumTest = `import assert from 'node:assert/strict';
import test from 'node:test';
import { sum } from './sum.mjs';

test('two numbers are added', () => assert.equal(sum(2, 3), 5));
`;

export interface RunFolder extends AsyncDisposable {
  /** Empty; the agent's HOME. */
  readonly home: string;
  /** A git work tree with a failing test, `sum.test.mjs`, and what the caller put there. */
  readonly project: string;
  /** A text that only processes of this run have in their environment: a part of `home`. */
  readonly marker: string;
}

export interface RunFolderOptions {
  /** Path in the project to content, committed together with the test. */
  readonly files?: Readonly<Record<string, string>>;
  /** Longest time from the end of the run to the end of its last process. Default 10,000. */
  readonly leftoverMs?: number;
}

const waitForNone = async (marker: string, leftoverMs: number): Promise<readonly Leftover[]> => {
  const end = performance.now() + leftoverMs;
  for (;;) {
    const left = await findLeftovers(marker);
    if (left.length === 0 || performance.now() > end) return left;
    await pause(100);
  }
};

const end = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
};

/**
 * Makes the folder; its name has a space and a letter beyond ASCII. Disposing it waits for the run's processes to end, ends those that
 * did not, removes the folder, and throws when there was one to end.
 */
export const openRunFolder = async ({ files = {}, leftoverMs = 10_000 }: RunFolderOptions = {}): Promise<RunFolder> => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gyre-e2e-'));
  const marker = path.basename(folder);
  const home = path.join(folder, 'home');
  const project = path.join(folder, 'my prøject');
  await mkdir(home);
  await mkdir(project);
  for (const [name, content] of Object.entries({ 'sum.test.mjs': sumTest, ...files })) await writeFile(path.join(project, name), content);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]): void => void execFileSync('git', args, { cwd: project, env, timeout: 30_000, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', 'commit', '--quiet', '--message=Start');
  return {
    home,
    project,
    marker,
    [Symbol.asyncDispose]: async () => {
      const left = await waitForNone(marker, leftoverMs);
      for (const { pid } of left) end(pid);
      await rm(folder, { recursive: true, maxRetries: 5, retryDelay: 200 });
      if (left.length > 0) throw new Error(`The run left ${left.length} processes: ${left.map((l) => `${l.pid} ${l.command}`).join('; ')}`);
    },
  };
};
