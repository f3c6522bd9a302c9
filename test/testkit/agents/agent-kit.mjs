// What the fixture agents share. They are real programs: every call leaves lines in a ledger, so that a test can prove who ran, when,
// with which prompt, and never has to believe the engine.
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const ledger = process.env.GYRE_TEST_LEDGER;
const startMs = Date.now();

/** One line of JSON; an append of this size is not torn by other writers. */
const note = (line) => {
  if (ledger !== undefined) appendFileSync(ledger, `${JSON.stringify({ pid: process.pid, ...line })}\n`);
};

/** To be called first. Notes the call at once, so that one which is killed later is proven too. */
export const begin = () => {
  note({ event: 'start', argv: process.argv, cwd: process.cwd(), envNames: Object.keys(process.env).sort(), startMs });
  process.on('exit', () => note({ event: 'end', startMs, endMs: Date.now() }));
};

/** Reads standard input to its end and notes how much it was. */
export const readPrompt = () => {
  const prompt = readFileSync(0);
  note({
    event: 'prompt',
    startMs,
    promptBytes: prompt.length,
    promptSha256: createHash('sha256').update(prompt).digest('hex'),
    promptMs: Date.now(),
  });
  return prompt;
};

/** Files to write, relative to the working folder: GYRE_TEST_EDIT is JSON `{"<file>": "<text>"}`; without it, one harmless file. */
export const edits = () => Object.entries(JSON.parse(process.env.GYRE_TEST_EDIT ?? '{"agent-was-here.txt":"edited\\n"}'));

export const edit = () => {
  for (const [file, text] of edits()) {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    writeFileSync(file, text);
  }
};

export const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

/** The last event of a good run, in the shape of Claude Code's stream of JSON lines, with a cost as `agent: command` counts it. */
export const success = (text = 'Done. All tests pass.') => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: text,
  session_id: '00000000-0000-4000-8000-000000000001',
  num_turns: 1,
  total_cost_usd: 0.01,
  cost_usd: 0.01,
  usage: { input_tokens: 100, output_tokens: 10 },
});

/** Keeps the process alive without work. */
export const hang = () => setInterval(() => {}, 60_000);
