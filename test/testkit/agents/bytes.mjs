// Prints a byte order mark, all 256 byte values, lone continuation bytes and NUL, on stdout and stderr; edits, says so and exits 0.
import { writeSync } from 'node:fs';

import { begin, edit, readPrompt, say, success } from './agent-kit.mjs';

const oddBytes = Buffer.concat([
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from(Array.from({ length: 256 }, (_, value) => value)),
  Buffer.from([0x80, 0xbf, 0x80, 0x0a, 0xc3, 0x0a, 0xf0, 0x9f, 0x0a, 0x00, 0x00, 0x0a]),
]);

begin();
readPrompt();
writeSync(1, oddBytes);
writeSync(2, oddBytes);
edit();
say(success());
