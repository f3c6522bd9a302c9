import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Rejection } from '../../core/fault.ts';
import type { JournalReader, RunRow } from '../../journal/index.ts';
import { createProcessHost, viewOutput } from '../../process/index.ts';
import { attemptsOf } from '../../loop/read.ts';
import { entryArgv } from '../entries.ts';
import { terminalPrinter } from '../terminal-text.ts';
import { pickAttempt } from '../pick-attempt.ts';
import { findRun, readJournal } from '../place.ts';
import { printJson, endWithReader } from '../print.ts';

export interface LogsOptions {
  readonly follow?: boolean;
  readonly attempt?: string;
  readonly stderr?: boolean;
  readonly json?: boolean;
}

export const logs = async (text: string, options: LogsOptions): Promise<void> => {
  endWithReader();
  const { place, reader } = await readJournal();
  const run = findRun(reader, text);
  if (reader === undefined) return;
  const running = runningAgent(reader, run);
  if (running !== undefined && options.attempt === undefined) {
    await followRunning(path.join(place.stateHome, running.jobDir), options);
    return;
  }
  const attempt = pickAttempt(attemptsOf(run), options.attempt);
  if (attempt.agent === undefined) throw new Rejection(`Attempt ${attempt.record.attempt} of run ${run.id} kept no output.`);
  const stream = options.stderr === true ? attempt.agent.stderr : attempt.agent.stdout;
  if (options.json === true) {
    printJson({ run: run.id, attempt: attempt.record.attempt, ...stream });
    return;
  }
  if (!existsSync(stream.path)) throw new Rejection(`The log ${stream.path} is not there any more.`);
  await printFile(stream.path);
};

/** The agent of the attempt in progress: its spawn step has an intent and no outcome. */
const runningAgent = (reader: JournalReader, run: RunRow): { readonly jobDir: string } | undefined => {
  if (run.endedAt !== undefined) return undefined;
  let open: { readonly key: string; readonly jobDir: string } | undefined;
  for (const fact of reader.facts({ run: run.id })) {
    const data = fact.data as { readonly key?: string; readonly jobDir?: string };
    if (fact.kind === 'step.intended' && data.key !== undefined && /^a\d+\/agent$/.test(data.key) && data.jobDir !== undefined)
      open = { key: data.key, jobDir: data.jobDir };
    if ((fact.kind === 'step.completed' || fact.kind === 'step.failed') && data.key === open?.key) open = undefined;
  }
  return open;
};

const printFile = async (file: string): Promise<void> => {
  const print = terminalPrinter();
  for await (const chunk of createReadStream(file)) print(chunk as Buffer);
  print(Buffer.from('\n'));
};

const pollMs = 200;

/** Shows what a live agent has printed so far and, when asked, what it goes on to print. Reads only: the process is never touched. */
const followRunning = async (jobDir: string, options: LogsOptions): Promise<void> => {
  const host = createProcessHost({ shim: entryArgv('shim') });
  const name = options.stderr === true ? 'stderr' : 'stdout';
  const print = terminalPrinter();
  const view = viewOutput(jobDir, name);
  for (const chunk of view.read()) print(chunk);
  while (options.follow === true && (await host.inspect(jobDir)) === 'running') {
    await delay(pollMs);
    for (const chunk of view.read()) print(chunk);
  }
  for (const chunk of view.read()) print(chunk);
  print(Buffer.from('\n'));
};
