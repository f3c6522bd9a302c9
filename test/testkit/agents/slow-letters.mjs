// Prints its success event byte by byte, with a pause of SLOW_LETTERS_MS (default 20) inside every letter of more than one byte.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { begin, edit, readPrompt, success } from './agent-kit.mjs';

const slowEvent = success('Caf\u00e9 \u{1F680} d\u00e9j\u00e0 vu');

begin();
readPrompt();
edit();
for (const byte of Buffer.from(`${JSON.stringify(slowEvent)}\n`)) {
  writeSync(1, Buffer.from([byte]));
  if (byte >= 0x80) await sleep(Number(process.env.SLOW_LETTERS_MS ?? 20));
}
