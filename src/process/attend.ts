// The engine's side of one claimed job: follows its output, waits for its result, passes on the wish to end it.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

import { StreamFollower } from './follow.ts';
import type { StreamListener } from './follow.ts';
import { isAlive, signalProcess } from './identity.ts';
import { neverRan, readResult, readSpec, requestEnd, toResult } from './job-files.ts';
import type { Claim, StoredResult } from './job-files.ts';
import { recoverLost } from './lost.ts';
import type { ManagedProcess, ProcessResult } from './port.ts';
import { streamLayout } from './stream-layout.ts';
import type { JoinedStream } from './stream-layout.ts';
import { wakeOn } from './wake.ts';

/** Between the result and the end of the shim lie a few milliseconds; nothing depends on it but that nothing is left behind. */
const shimGoneMs = 5_000;
const shimPauseMs = 5;

class AttendedProcess implements ManagedProcess {
  readonly jobDir: string;
  readonly wasAdopted: boolean;
  readonly result: Promise<ProcessResult>;
  readonly #claim: Claim;
  readonly #followers: StreamFollower[] = [];
  #stdout: JoinedStream | undefined;

  constructor(job: { readonly jobDir: string; readonly wasAdopted: boolean; readonly claim: Claim }) {
    this.jobDir = job.jobDir;
    this.wasAdopted = job.wasAdopted;
    this.#claim = job.claim;
    this.result = this.#attend();
    // Who asks for the result later still gets the rejection; nobody asking is no reason to end the engine.
    this.result.catch(() => {});
  }

  onStdout(listener: StreamListener): void {
    const spec = readSpec(this.jobDir);
    if (spec === undefined) return;
    const follower = new StreamFollower({ dir: this.jobDir, name: 'stdout', layout: streamLayout(spec.limits.outputBytes), listener });
    if (this.#stdout === undefined) this.#followers.push(follower);
    else void this.#drain([follower], this.#stdout);
  }

  end(reason: 'cancelled' | 'after-result'): void {
    if (this.#stdout !== undefined || this.#claim.by !== 'shim') return;
    requestEnd(this.jobDir, reason);
    signalProcess(this.#claim.shim, 'SIGTERM');
  }

  async #attend(): Promise<ProcessResult> {
    // A turn for the caller to name its listeners: also those of a finished job get everything before the result settles.
    await turn();
    const stored = await this.#ended();
    await this.#drain(this.#followers, stored.stdout);
    this.#stdout = stored.stdout;
    return toResult(this.jobDir, stored);
  }

  async #drain(followers: readonly StreamFollower[], stdout: JoinedStream): Promise<void> {
    for (const follower of followers) while (follower.pump(stdout)) await turn();
  }

  async #ended(): Promise<StoredResult> {
    const { jobDir } = this;
    if (this.#claim.by === 'revoked') return neverRan('not-started', { problem: this.#claim.why, at: this.#claim.claimedAt });
    const { shim, claimedAt } = this.#claim;
    const wake = wakeOn(jobDir, (file) => (file === 'result.json' ? 'urgent' : this.#followers.length > 0 ? 'soon' : 'none'));
    let seen: 'soon' | 'look' = 'look';
    try {
      for (;;) {
        if (seen === 'look') {
          const isRunning = isAlive(shim);
          // Read after the look: a shim that ended in between has written its result by then.
          const result = readResult(jobDir);
          if (result !== undefined) {
            for (const until = performance.now() + shimGoneMs; isAlive(shim) && performance.now() < until;) await sleep(shimPauseMs);
            return result;
          }
          if (!isRunning) return await recoverLost({ jobDir, spec: readSpec(jobDir), claimedAt });
        }
        if (this.#followers.map((follower) => follower.pump(undefined)).includes(true)) await turn();
        else seen = await wake.next();
      }
    } finally {
      wake.close();
    }
  }
}

/** Attends a job that has a claim. */
export const attend = (job: { readonly jobDir: string; readonly wasAdopted: boolean; readonly claim: Claim }): ManagedProcess =>
  new AttendedProcess(job);
