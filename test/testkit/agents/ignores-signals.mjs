// Starts a child that ignores SIGTERM and SIGINT and a grandchild in a session of its own, ignores both signals too, and hangs.
// Prints `{"type":"tree","self":pid,"child":pid,"grandchild":pid}` once all three run.
import { spawn } from 'node:child_process';

import { begin, hang, readPrompt, say } from './agent-kit.mjs';

const deaf = "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 60_000);";
const grandchild = `${deaf} process.stdout.write('ready')`;
const child = `${deaf}
  const grandchild = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  grandchild.stdout.once('data', () => process.stdout.write(String(grandchild.pid)));`;

begin();
readPrompt();
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {});
const started = spawn(process.execPath, ['-e', child], { stdio: ['ignore', 'pipe', 'ignore'] });
started.stdout.once('data', (pid) => say({ type: 'tree', self: process.pid, child: started.pid, grandchild: Number(pid) }));
hang();
