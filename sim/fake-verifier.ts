import type { Verdict, VerdictRecord } from '../src/core/verdict.ts';
import type { EvidenceStore, Verifier } from '../src/verify/index.ts';
import type { ProcessSpec } from '../src/process/index.ts';
import type { CheckOrder } from './programs.ts';
import type { Stage } from './stage.ts';
import type { World } from './world.ts';

export const orderedProcess = (command: string, order: unknown, marker: string): ProcessSpec => ({
  command,
  args: [JSON.stringify(order)],
  cwd: '/',
  env: {},
  stdin: { kind: 'none' },
  limits: { deadlineMs: 60_000, idleMs: undefined, graceMs: 1_000, outputBytes: 1_000 },
  marker,
  whenOwnerDies: 'end',
  askSignal: 'SIGTERM',
});

/** Runs one check, as a process of the run, and judges by its exit code alone. */
export const fakeVerifier = (stage: Stage, world: World, evidence: EvidenceStore): Verifier => ({
  verify: async ({ run, attempt, task, candidate, process }) => {
    const order: CheckOrder = { run, task: task.key, commit: candidate.commit };
    const { end, exitCode } = await process('check', orderedProcess('check', order, run));
    const verdict: Verdict =
      end !== 'exited'
        ? { verdict: 'inconclusive', why: [`The check ended: ${end}.`], reasons: [], notes: [] }
        : exitCode === 0
          ? { verdict: 'pass', notes: [] }
          : {
              verdict: 'fail',
              reasons: [
                { kind: 'task-still-red', sentence: `${task.key} is red.`, failing: [task.key], evidence: `expected ${candidate.tree}` },
              ],
              notes: [],
            };
    await stage.effect(`judge ${run} ${candidate.commit.slice(-4)} ${verdict.verdict}`, () =>
      world.judge({ run, commit: candidate.commit, pass: verdict.verdict === 'pass' }),
    );
    const record: VerdictRecord = {
      format: 'gyre.verdict/1',
      run,
      attempt,
      task: task.key,
      base: candidate.base,
      candidate: candidate.commit,
      tree: candidate.tree,
      guards: [],
      gateFiles: [],
      checks: [],
      tools: {},
      verdict,
    };
    return { record, evidence: await evidence.put(JSON.stringify(record)) };
  },
});
