// Prints numbered lines of 100 bytes as fast as they are taken for FLOOD_MS (default 2000), then edits, says so and ends.
import { writeSync } from 'node:fs';

import { begin, edit, readPrompt, say, success } from './agent-kit.mjs';

const linesAtOnce = 1_000;

begin();
readPrompt();
const until = Date.now() + Number(process.env.FLOOD_MS ?? 2_000);
for (let line = 0; Date.now() < until; line += linesAtOnce) {
  const lines = Array.from({ length: linesAtOnce }, (_, index) => `${String(line + index).padStart(12, '0')} ${'x'.repeat(86)}\n`);
  const block = Buffer.from(lines.join(''));
  for (let done = 0; done < block.length;) done += writeSync(1, block, done);
}
edit();
say(success());
