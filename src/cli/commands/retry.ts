import { findConfig } from '../../config/index.ts';
import { exitCodeOf } from '../../core/exit.ts';
import { Rejection } from '../../core/fault.ts';
import type { LoopDefinition } from '../../core/loop-definition.ts';
import { createTaskRun, inputOf, outputOf, reopenedInput, type TickEvent } from '../../loop/index.ts';
import { refuseWithoutForge } from '../forge.ts';
import { agentNamed, attemptsOf, withAgent } from '../loop-choice.ts';
import { findPlace, findRun } from '../place.ts';
import { line, printJson } from '../print.ts';
import { tickLines } from '../tick-lines.ts';
import { withCycle } from '../with-cycle.ts';
import { summaryOf } from './status.ts';
import path from 'node:path';
import { isOpen, openReader } from '../../journal/index.ts';

export const retry = async (
  text: string,
  options: { readonly attempts?: string; readonly agent?: string; readonly json?: boolean },
): Promise<void> => {
  const place = await findPlace();
  const reader = openReader(place.stateHome);
  const row = findRun(reader, text);
  const input = inputOf(row);
  if (row.state === 'done' && outputOf(row).exit.exit === 'goal-met')
    throw new Rejection(`Run ${row.id} met its goal; there is nothing to retry.`);
  const home = path.join(place.repository.root, input.prefix);
  const source = findConfig(home, place.repository.root);
  // The loop as it is now, so that a limit raised in its file counts; a goal from the command line has no file.
  const named = (await source?.names())?.includes(input.loop.name) === true ? (await source?.load(input.loop.name))?.definition : undefined;
  const agent = options.agent === undefined ? undefined : await agentNamed(source, options.agent);
  const loop = withAttempts(withAgent(named ?? input.loop, agent), options.attempts);
  await refuseWithoutForge(loop, { root: place.repository.root, home, env: process.env });
  const report = (event: TickEvent): void => {
    if (options.json !== true) for (const words of tickLines(event)) line(words);
  };
  const ended = await withCycle({ place, home, env: process.env }, async ({ engine, parts }) => {
    const handler = createTaskRun(parts, report);
    const handles = isOpen(row) ? await engine.recover([handler]) : [];
    const handle = handles.find(({ id }) => id === row.id) ?? (await engine.reopen(handler, row.id, reopenedInput(row, loop)));
    // Others that a dead engine left open go on as well, and are not left half-way by this command's end.
    await Promise.all(handles.map((other) => other.ended));
    const last = await handle.ended;
    // A handler that ended without a word (cancelled, failed) could not report its end itself.
    if (last.state !== 'done') report({ event: 'run-ended', run: last.id, title: input.task.title, output: outputOf(last) });
    return last;
  });
  process.exitCode = exitCodeOf(outputOf(ended).exit);
  if (options.json === true) printJson(summaryOf(ended));
};

const withAttempts = (loop: LoopDefinition, text: string | undefined): LoopDefinition => {
  if (text === undefined) return loop;
  return { ...loop, stop: { ...loop.stop, attempts: attemptsOf(text) } };
};
