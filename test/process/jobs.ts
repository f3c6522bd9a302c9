// What the tests of process control share: a folder, a host, specs of fixture agents, and a look afterwards that nothing is left.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect } from 'vitest';

import { createProcessHost, sourceShim } from '../../src/process/index.ts';
import type { ManagedProcess, ProcessHost, ProcessSpec } from '../../src/process/index.ts';
import { agentPath, readLedger } from '../testkit/agents/ledger.ts';
import type { AgentCall, AgentName } from '../testkit/agents/ledger.ts';
import { assertNoLeftovers, isRunning, waitUntil } from '../testkit/processes.ts';

export interface Jobs {
  readonly host: ProcessHost;
  /** Of the present test alone; holds a blank and letters outside ASCII. */
  readonly root: string;
  readonly marker: string;
  readonly ledgerFile: string;
  dir(name?: string): string;
  /** A spec for a fixture agent, or with `command` and `args` for anything. */
  spec(agent: AgentName, changes?: SpecChanges): ProcessSpec;
  open(agent: AgentName, changes?: SpecChanges): Promise<ManagedProcess>;
  calls(): readonly AgentCall[];
}

export type SpecChanges = Partial<Omit<ProcessSpec, 'limits'>> & { readonly limits?: Partial<ProcessSpec['limits']> };

/** Everything in a stream so far, bytes and cuts in their order. */
export const collect = (job: ManagedProcess) => {
  const chunks: Buffer[] = [];
  const cuts: number[] = [];
  job.onStdout({ bytes: (chunk) => chunks.push(Buffer.from(chunk)), cut: (lost) => cuts.push(lost) });
  return { bytes: () => Buffer.concat(chunks), text: () => Buffer.concat(chunks).toString(), cuts };
};

/** The pid of the shim that took a job. */
export const shimPid = (jobDir: string): number =>
  (JSON.parse(readFileSync(path.join(jobDir, 'claim.json'), 'utf8')) as { readonly shim: { readonly pid: number } }).shim.pid;

/** Compiled once for all tests of this checkout. */
const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/shim', import.meta.url));

let count = 0;

/** Sets up the tests of one file; after each of them no process of it may be left, neither program nor shim. */
export const useJobs = (): Jobs => {
  let root = '';
  let marker = '';
  let dirs: string[] = [];
  const host = createProcessHost({ shim: sourceShim, cacheDir });

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'gyre-process é '));
    marker = `gyre-test-${process.pid}-${(count += 1)}`;
    dirs = [];
  });

  afterEach(async () => {
    try {
      await assertNoLeftovers(marker);
      const claimed = dirs.filter((dir) => existsSync(path.join(dir, 'claim.json')));
      for (const dir of claimed) {
        const claim = JSON.parse(readFileSync(path.join(dir, 'claim.json'), 'utf8')) as { readonly by: string };
        if (claim.by === 'shim') await waitUntil(() => !isRunning(shimPid(dir)), { withinMs: 10_000, what: `end of the shim of ${dir}` });
      }
    } finally {
      await host.sweep(marker);
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  const jobs: Jobs = {
    host,
    get root() {
      return root;
    },
    get marker() {
      return marker;
    },
    get ledgerFile() {
      return path.join(root, 'ledger.jsonl');
    },
    dir: (name = 'job') => {
      const dir = path.join(root, name);
      dirs.push(dir);
      return dir;
    },
    spec: (agent, { limits, env, ...changes } = {}) => ({
      command: process.execPath,
      args: [agentPath(agent)],
      cwd: root,
      env: { PATH: '/usr/bin:/bin', GYRE_TEST_LEDGER: jobs.ledgerFile, ...env },
      stdin: { kind: 'none' },
      limits: { deadlineMs: 120_000, idleMs: undefined, graceMs: 1_000, outputBytes: 1_000_000, ...limits },
      marker,
      whenOwnerDies: 'end',
      askSignal: 'SIGTERM',
      ...changes,
    }),
    open: (agent, changes) => host.open(jobs.dir(), jobs.spec(agent, changes)),
    calls: () => readLedger(jobs.ledgerFile),
  };
  return jobs;
};

/** Spec changes that run a shell text instead of an agent. */
export const shell = (text: string): SpecChanges => ({ command: '/bin/sh', args: ['-c', text] });

export const expectNoProblem = (result: { readonly problem: string }): void => expect(result.problem).toBe('');
