import path from 'node:path';
import { findConfig } from '../../config/index.ts';
import { exitCodeOf } from '../../core/exit.ts';
import { Rejection } from '../../core/fault.ts';
import type { LoopDefinition } from '../../core/loop-definition.ts';
import { openReader, requestSignal, type JournalReader, type RunRow } from '../../journal/index.ts';
import { inputOf, outputOf, reopenedInput, type RunInput } from '../../loop/index.ts';
import { openCycle } from '../compose.ts';
import { daemonOf, requests } from '../daemon-state.ts';
import { followRun } from '../follow-run.ts';
import { refuseWithoutForge } from '../forge.ts';
import { letGoOn, refuseUndecided, standsStill } from '../let-go-on.ts';
import { agentNamed, attemptsOf, settingsAt, withAgent } from '../loop-choice.ts';
import { findPlace, findRun, type Place } from '../place.ts';
import { line, printJson } from '../print.ts';
import { progressReporter } from '../progress.ts';
import { tickLines } from '../tick-lines.ts';
import { withCycle } from '../with-cycle.ts';
import { summaryOf } from './status.ts';

export interface RetryOptions {
  readonly attempts?: string;
  readonly agent?: string;
  readonly now?: boolean;
  readonly json?: boolean;
}

export const retry = async (text: string, options: RetryOptions): Promise<void> => {
  const place = await findPlace();
  const reader = openReader(place.stateHome);
  const row = findRun(reader, text);
  if (row.state === 'done' && outputOf(row).exit.exit === 'goal-met')
    throw new Rejection(`Run ${row.id} met its goal; there is nothing to retry.`);
  refuseTooEarly(row, options.now === true);
  refuseUndecided(row);
  refuseChanges(row, options);
  const input = await inputFor(place, row, options);
  const print = (words: string): void => {
    if (options.json !== true) line(words);
  };
  const ended =
    reader !== undefined && daemonOf(reader) !== undefined
      ? await retryByDaemon({ place, reader, row, input, print })
      : await retryHere({ place, row, input, print });
  process.exitCode = exitCodeOf(outputOf(ended).exit);
  if (options.json === true) printJson(summaryOf(ended));
};

/** A run that stands still goes on with the input it has; only one that ended is opened again under another. */
const refuseChanges = (row: RunRow, options: RetryOptions): void => {
  if (!standsStill(row) || (options.attempts === undefined && options.agent === undefined)) return;
  throw new Rejection(`Run ${row.id} has not ended: it goes on under the limits and with the agent it began with.`, {
    hint: `Leave out --attempts and --agent, or end it first: gyre stop ${row.id}`,
  });
};

/** A provider that said when it serves again is not asked before without a person's word. */
const refuseTooEarly = (row: RunRow, now: boolean): void => {
  const wake = row.endedAt === undefined ? undefined : outputOf(row).wake;
  if (now || wake === undefined || (wake.on !== 'time' && wake.on !== 'quota') || wake.at <= Date.now()) return;
  throw new Rejection(
    `Run ${row.id} waits until ${new Date(wake.at).toISOString()}; asked before, it would most likely be refused again.`,
    {
      hint: `To try all the same: gyre retry ${row.id} --now`,
    },
  );
};

/** The loop as it is now, so that a limit raised in its file counts; a goal from the command line has no file. */
const inputFor = async (place: Place, row: RunRow, options: RetryOptions): Promise<RunInput> => {
  const { prefix, loop } = inputOf(row);
  const home = path.join(place.repository.root, prefix);
  const source = findConfig(home, place.repository.root);
  const named = (await source?.names())?.includes(loop.name) === true ? (await source?.load(loop.name))?.definition : undefined;
  const agent = options.agent === undefined ? undefined : await agentNamed(source, options.agent);
  const now = withAttempts(withAgent(named ?? loop, agent), options.attempts);
  await refuseWithoutForge(now, { root: place.repository.root, home, env: process.env });
  return reopenedInput(row, now, '');
};

const withAttempts = (loop: LoopDefinition, text: string | undefined): LoopDefinition => {
  if (text === undefined) return loop;
  return { ...loop, stop: { ...loop.stop, attempts: attemptsOf(text) } };
};

interface Retry {
  readonly place: Place;
  readonly row: RunRow;
  readonly input: RunInput;
  readonly print: (words: string) => void;
}

const retryHere = async ({ place, row, input, print }: Retry): Promise<RunRow> => {
  const settings = await settingsAt(place);
  const reporter = progressReporter((event) => tickLines(event).forEach(print));
  const cycle = await openCycle({ place, env: process.env, reporter, settings });
  return await withCycle(cycle, async () => {
    const { engine, handlers, recovered } = cycle;
    const goOn = async (): Promise<RunRow | undefined> => {
      if (!standsStill(row))
        return (recovered.find(({ id }) => id === row.id) ?? (await engine.reopen(handlers.task, row.id, input))).ended;
      const { reader } = engine;
      await letGoOn({ stateHome: place.stateHome, reader, run: row.id });
      // What it does is told by the engine of this process.
      return followRun({ reader, run: row.id, print: () => {}, signal: new AbortController().signal });
    };
    // Others that a dead engine left open go on as well, and are not left half-way by this command's end.
    const [last] = await Promise.all([goOn(), ...recovered.map((other) => other.ended)]);
    if (last === undefined) throw unfollowed(row);
    // A handler that ended without a word (cancelled, failed) could not report its end itself.
    if (last.state !== 'done')
      tickLines({ event: 'run-ended', run: last.id, title: input.task.title, output: outputOf(last) }).forEach(print);
    return last;
  });
};

const unfollowed = (row: RunRow): Rejection => new Rejection(`Run ${row.id} is not followed any more.`);

const retryByDaemon = async ({ place, reader, row, input, print }: Retry & { readonly reader: JournalReader }): Promise<RunRow> => {
  const told = reader.stream(row.id, 'progress').at(-1)?.seq ?? 0;
  if (standsStill(row)) await letGoOn({ stateHome: place.stateHome, reader, run: row.id });
  else requestSignal(place.stateHome, { run: '', name: requests.retry, payload: { run: row.id, input }, by: 'gyre retry' });
  const generation = row.endedAt === undefined ? row.generation : row.generation + 1;
  const ended = await followRun({ reader, run: row.id, print, signal: new AbortController().signal, afterSeq: told, generation });
  if (ended === undefined) throw unfollowed(row);
  return ended;
};
