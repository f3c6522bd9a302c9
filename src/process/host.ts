// Starts shims and finds them again. Invariants:
//   1. One claim a job folder, made once: at most one program is ever started for it, however many engines and shims try.
//   2. A folder with a claim is never started again: its process is adopted, its result read, or its loss reported.
//   3. No value of a program's environment is written to disk.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Fault, assert } from '../core/fault.ts';
import { createGate } from '../core/gate.ts';
import { attend } from './attend.ts';
import { isAlive, selfIdentity } from './identity.ts';
import { readClaim, readResult, readSpec, takeClaim, writeSpec } from './job-files.ts';
import type { Claim } from './job-files.ts';
import type { ProcessHost, ProcessSpec } from './port.ts';
import { holdBack } from './priority.ts';
import { markName } from './process-table.ts';
import { takesInOrphans } from './reaper.ts';
import { packEnv } from './shim-env.ts';
import { sweepMarked } from './sweep.ts';

/** A shim takes its job within a tenth of a second on an idle machine; one that has not by then is kept from ever doing so. */
const claimBoundMs = 60_000;
const claimPauseMs = 10;
/** A start takes most of a processor: a thousand at once would all come too late, one after another they all come. */
const startsAtOnce = Math.max(4, 2 * availableParallelism());
const shimLogLetters = 400;

/** What runs the shim straight from the sources. */
export const sourceShim: readonly string[] = [process.execPath, fileURLToPath(new URL('shim.ts', import.meta.url))];

const makeJobDir = (jobDir: string): void => {
  assert(path.isAbsolute(jobDir), `The job folder must be an absolute path: ${jobDir}`);
  try {
    mkdirSync(jobDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Fault('JOB_FOLDER_REFUSED', `The job folder could not be made: ${jobDir}`, { data: { jobDir }, cause: error });
  }
};

/** Takes the place of a shim that has not come yet. Whatever the outcome, the folder has a claim afterwards. */
const revokeClaim = (jobDir: string, why: string): Claim => {
  const revoked: Claim = { by: 'revoked', why, claimedAt: Date.now() };
  const claim = takeClaim(jobDir, revoked) ? revoked : readClaim(jobDir);
  assert(claim !== undefined, `A claim that stands in the way cannot be read in ${jobDir}`);
  return claim;
};

const shimLog = (jobDir: string): string => path.join(jobDir, 'shim.log');

export interface HostOptions {
  /** Program and arguments that run the shim; the job folder is appended. */
  readonly shim: readonly string[];
  /**
   * Absolute folder, of this user alone, in which Node keeps the compiled shim: it then starts in less than half the time when it is run
   * from its sources. Without it the engine's own compile cache is used, if the engine has one.
   */
  readonly cacheDir?: string;
}

interface Start {
  readonly launch: string;
  /** Empty, or why no shim of this start will come. */
  readonly failure: () => string;
  readonly giveUp: () => void;
}

/** Starts a shim in a session of its own, free of every handle of the engine. */
const startShim = (
  options: HostOptions,
  job: { readonly jobDir: string; readonly spec: ProcessSpec; readonly ownerTakesOrphans: boolean },
): Start => {
  const { jobDir, spec, ownerTakesOrphans } = job;
  const { shim, cacheDir = getCompileCacheDir() } = options;
  const [program, ...args] = shim;
  assert(program !== undefined, 'No program was given that runs the shim.');
  const launch = randomUUID();
  const { env, ...rest } = spec;
  writeSpec(jobDir, { ...rest, envNames: Object.keys(env), launch, owner: selfIdentity(), ownerTakesOrphans });
  const log = openSync(shimLog(jobDir), 'a', 0o600);
  let failure = '';
  const failed = (why: string): void => {
    failure = `The process that is to watch over it could not be started: ${why}`;
  };
  try {
    // The one place where this folder looks at its own environment: does Gyre itself run under a program of Gyre?
    const packed = packEnv({ env, launch, outerMark: process.env[markName], cacheDir });
    const child = spawn(program, [...args, jobDir], { cwd: '/', env: packed, detached: true, stdio: ['ignore', 'ignore', log] });
    child.once('error', (error) => failed(error.message));
    child.once('exit', (code, signal) => failed(`it ended with ${signal ?? `exit code ${code}`}.`));
    child.unref();
    // It lowers itself as well; its start is the dearest part of its life.
    if (child.pid !== undefined) holdBack(child.pid);
    return { launch, failure: () => failure, giveUp: () => void child.kill('SIGKILL') };
  } catch (error) {
    // Environment too large, or not expressible at all (a NUL in it).
    failed(error instanceof Error ? error.message : String(error));
    return { launch, failure: () => failure, giveUp: () => {} };
  } finally {
    closeSync(log);
  }
};

/** Waits until the job is claimed: by the shim of this start, by that of another engine, or in the end by a revocation. */
const awaitClaim = async (jobDir: string, start: Start): Promise<Claim> => {
  const until = performance.now() + claimBoundMs;
  for (;;) {
    // Looked at before the claim: a shim that has taken the job and is over already must not count as failed.
    const failure = start.failure();
    const claim = readClaim(jobDir);
    if (claim !== undefined) return claim;
    // A spec of another start means that another engine was later, and that its shim comes instead of ours.
    if (failure !== '' && readSpec(jobDir)?.launch === start.launch) {
      return revokeClaim(jobDir, `${failure} ${readFileSync(shimLog(jobDir), 'utf8').slice(-shimLogLetters)}`.trimEnd());
    }
    if (performance.now() >= until) {
      start.giveUp();
      return revokeClaim(jobDir, `The process that is to watch over it did not take the job within ${claimBoundMs / 1_000} s.`);
    }
    await sleep(claimPauseMs);
  }
};

/** Of all hosts of this process. */
const starts = createGate(startsAtOnce);

/** Makes the host of this machine. */
export const createProcessHost = (options: HostOptions): ProcessHost => ({
  async open(jobDir, spec) {
    assert(/^[\x21-\x7e]+$/.test(spec.marker), `A marker is printable ASCII without blanks: ${JSON.stringify(spec.marker)}`);
    makeJobDir(jobDir);
    const found = readClaim(jobDir);
    if (found !== undefined) return attend({ jobDir, claim: found, wasAdopted: true });
    return await starts(async () => {
      const start = startShim(options, { jobDir, spec, ownerTakesOrphans: await takesInOrphans() });
      const claim = await awaitClaim(jobDir, start);
      return attend({ jobDir, claim, wasAdopted: claim.by === 'shim' && claim.launch !== start.launch });
    });
  },

  async inspect(jobDir) {
    const claim = readClaim(jobDir);
    if (claim === undefined) return 'absent';
    if (claim.by === 'revoked') return 'ended';
    const isRunning = isAlive(claim.shim);
    const result = readResult(jobDir);
    if (result !== undefined) return result.end === 'lost' ? 'lost' : 'ended';
    return isRunning ? 'running' : 'lost';
  },

  async revoke(jobDir) {
    makeJobDir(jobDir);
    return revokeClaim(jobDir, 'The start was revoked before it happened.').by === 'revoked' ? 'revoked' : 'claimed';
  },

  sweep: sweepMarked,
});
