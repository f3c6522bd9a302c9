// Starts a child that holds stdout open for an hour, then edits, says so and exits 0 at once.
import { spawn } from 'node:child_process';

import { begin, edit, readPrompt, say, success } from './agent-kit.mjs';

begin();
readPrompt();
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { stdio: ['ignore', 'inherit', 'inherit'] });
child.unref();
edit();
say(success());
say({ type: 'holder', pid: child.pid });
