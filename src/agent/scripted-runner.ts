// The scripted agent as a program of its own: `<runner> <script file>`, the prompt on stdin, the task in the GYRE_* variables. It is started
// like any other agent, so that a loop that works with it works for the same reasons as with a model.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Rejection } from '../core/fault.ts';
import { parseScript } from './script-format.ts';
import { performStep, scriptedExit } from './perform-step.ts';
import { pickEntry } from './pick-entry.ts';

const complain = (sentence: string): void => {
  process.stderr.write(`${sentence}\n`);
};

const main = async (): Promise<number> => {
  const file = process.argv[2];
  if (file === undefined) {
    complain('The scripted agent needs the path of its script.');
    return scriptedExit.badScript;
  }
  const source = await readFile(file, 'utf8').catch(() => undefined);
  if (source === undefined) {
    complain(`The script ${file} cannot be read.`);
    return scriptedExit.badScript;
  }
  const script = parseScript(source, file);
  const occasion = {
    task: process.env['GYRE_TASK'] ?? '',
    title: process.env['GYRE_TASK_TITLE'] ?? '',
    attempt: Number(process.env['GYRE_ATTEMPT'] ?? '1'),
    prompt: await text(process.stdin),
  };
  const entry = pickEntry(script, occasion);
  if (entry === undefined) {
    complain(`No entry of the script ${file} is for task "${occasion.task}", attempt ${occasion.attempt}.`);
    return scriptedExit.noEntry;
  }
  const world = { cwd: process.cwd(), prompt: occasion.prompt, print: (line: string) => void process.stdout.write(line) };
  for (const step of entry.steps) {
    const end = await performStep(step, world);
    if (end.end === 'next') continue;
    if (end.why !== '') complain(end.why);
    return end.code;
  }
  return 0;
};

try {
  // Not process.exit: what was printed is still on its way.
  process.exitCode = await main();
} catch (error) {
  if (error instanceof Rejection) {
    complain(error.message);
    for (const { origin, key, found, wanted } of error.issues) {
      complain(`  ${origin.file}:${origin.line ?? 1} ${key}: found ${found}, wanted ${wanted}`);
    }
    process.exitCode = scriptedExit.badScript;
  } else {
    complain(String(error));
    process.exitCode = scriptedExit.stepFailed;
  }
}
