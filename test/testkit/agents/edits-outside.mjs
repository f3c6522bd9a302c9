// Writes the file named by GYRE_TEST_OUTSIDE (an absolute path outside its workspace), and says whether it could. Its own edit is done too.
import { writeFileSync } from 'node:fs';

import { begin, edit, readPrompt, say, success } from './agent-kit.mjs';

begin();
readPrompt();
edit();
try {
  writeFileSync(process.env.GYRE_TEST_OUTSIDE ?? '', 'written from outside\n');
  say({ type: 'outside', written: true });
} catch (error) {
  say({ type: 'outside', written: false, code: error.code });
}
say(success());
