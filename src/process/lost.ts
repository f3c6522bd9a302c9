// A shim that vanished without a result: the machine lost power, or someone killed the shim.
import { isAlive } from './identity.ts';
import { nothingSeen, readProgram, readResult, writeResult } from './job-files.ts';
import type { StoredResult, StoredSpec } from './job-files.ts';
import { forgetClosing, joinStream } from './stream-join.ts';
import { streamLayout } from './stream-layout.ts';
import { endTree } from './sweep.ts';

const sweepBoundMs = 10_000;

/**
 * Ends what is left of the tree, makes the streams whole as far as they go, and puts that on record.
 * @param job.claimedAt epoch milliseconds at which the shim took the job
 */
export const recoverLost = async (job: {
  readonly jobDir: string;
  readonly spec: StoredSpec | undefined;
  readonly claimedAt: number;
}): Promise<StoredResult> => {
  const { jobDir, spec } = job;
  const program = readProgram(jobDir);
  // Once the leader is gone its number may be another group's: then the marker and the parents have to do.
  const leader = program !== undefined && isAlive(program.program) ? program.program : undefined;
  const swept =
    spec === undefined
      ? { killed: [], left: [] }
      : await endTree({ leader, known: [], self: process.pid, marker: spec.marker, boundMs: sweepBoundMs });
  const late = readResult(jobDir);
  if (late !== undefined) return late;
  const startedAt = program?.startedAt ?? job.claimedAt;
  const endedAt = Date.now();
  const join = (name: 'stdout' | 'stderr'): StoredResult['stdout'] =>
    spec === undefined ? nothingSeen : joinStream({ dir: jobDir, name, layout: streamLayout(spec.limits.outputBytes) });
  const result: StoredResult = {
    end: 'lost',
    exitCode: null,
    signal: null,
    startedAt,
    endedAt,
    wallMs: Math.max(0, endedAt - startedAt),
    suspendedMs: 0,
    orphansKilled: swept.killed.filter((one) => one.pid !== program?.program.pid).length,
    problem: `The process that watched over it vanished without a result; ${swept.killed.length} processes that it left were ended${
      swept.left.length > 0 ? `, ${swept.left.length} could not be` : ''
    }.`,
    stdout: join('stdout'),
    stderr: join('stderr'),
  };
  writeResult(jobDir, result);
  forgetClosing(jobDir);
  return result;
};
