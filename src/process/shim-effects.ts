// What the shim does around a program: keep its streams, and see to it that nothing is left when it is over.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';

import { nothingSeen } from './job-files.ts';
import { within } from './ladder.ts';
import type { Launched } from './launch.ts';
import type { ProcessIdentity } from './port.ts';
import { readNear } from './near-table.ts';
import { readTable } from './process-table.ts';
import { joinStream } from './stream-join.ts';
import type { StreamKeeper } from './stream-keeper.ts';
import type { JoinedStream, StreamLayout } from './stream-layout.ts';
import { endTree, treeOf, type TreeEnd } from './sweep.ts';
import type { Lineage } from './sweep.ts';

/** After the program ended: how long its last children may take to end by themselves. */
const settleMs = 1_000;
/** Between the first two looks; doubled with each. */
const settlePauseMs = 25;
/** After everything known was killed: how long to wait for the streams to close. */
const drainMs = 2_000;
const sweepBoundMs = 10_000;

/** Keeps what comes on a stream; settles when nothing more can come. */
export const keepStream = (stream: Readable, to: { readonly keeper: StreamKeeper; readonly onOutput: () => void }): Promise<void> =>
  new Promise((resolve) => {
    stream.on('data', (chunk: Uint8Array) => {
      to.keeper.write(chunk);
      to.onOutput();
    });
    // A pipe that breaks ends the stream; what came before is kept.
    stream.on('error', () => {});
    stream.once('close', () => resolve());
  });

const nothingSwept: TreeEnd = { killed: [], left: [] };

/** Gives the last children of a program that is over a moment to go, kills what is left of the tree, and ends the streams. */
export const endRest = async (job: {
  readonly marker: string;
  /** The engine, if it takes in no orphans. */
  readonly aside: ProcessIdentity | undefined;
  readonly program: Launched;
  readonly lineage: Lineage;
  readonly closed: Promise<unknown>;
}): Promise<{ readonly orphansKilled: number; readonly problem: string }> => {
  const { marker, aside, program, lineage, closed } = job;
  const query = { leader: program.identity, known: lineage.members, self: process.pid };
  const until = performance.now() + settleMs;
  // Where nothing is left, one look is enough: a thousand shims may look at once.
  const isLeft = (): boolean => treeOf(readNear({ ...query, marker, aside }) ?? readTable(marker), query).length > 0;
  let somethingIsLeft = isLeft();
  for (let pauseMs = settlePauseMs; somethingIsLeft && performance.now() < until; pauseMs *= 2) {
    await sleep(Math.min(pauseMs, until - performance.now()));
    somethingIsLeft = isLeft();
  }
  const swept = somethingIsLeft ? await endTree({ ...query, marker, boundMs: sweepBoundMs }) : nothingSwept;
  const drained = await within(
    closed.then(() => true),
    drainMs,
  );
  for (const stream of [program.stdout, program.stderr]) stream.destroy();
  await closed;
  const problems = [
    swept.left.length > 0 ? `${swept.left.length} processes could not be ended: ${swept.left.map((one) => one.pid).join(', ')}.` : '',
    drained === undefined ? 'Its output was held open by a process that could not be found; that process may still run.' : '',
  ];
  return {
    orphansKilled: swept.killed.filter((one) => one.pid !== program.identity.pid).length,
    problem: problems.filter(Boolean).join(' '),
  };
};

/** Joins a stream; where the disk refuses, says so and leaves what is there. */
export const joinSafely = (job: {
  readonly jobDir: string;
  readonly layout: StreamLayout;
  readonly keeper: StreamKeeper;
}): { readonly stream: JoinedStream; readonly problem: string } => {
  const { bytesSeen, name } = job.keeper;
  try {
    return { stream: joinStream({ dir: job.jobDir, name, layout: job.layout, bytesSeen }), problem: '' };
  } catch (error) {
    const problem = `The kept parts of ${name} could not be joined: ${error instanceof Error ? error.message : String(error)}.`;
    return { stream: { ...nothingSeen, bytesSeen }, problem };
  }
};
