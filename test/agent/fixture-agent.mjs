// A stand-in for a coding agent: `node fixture-agent.mjs <claude|plain> <behaviour>`, the prompt on stdin. `claude` speaks the event lines of
// Claude Code, `plain` those of a program of one's own.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const [dialect, behaviour] = process.argv.slice(2);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const usage = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadInputTokens: 100,
  cacheCreationInputTokens: 20,
  costUSD: 0.01,
  costBasis: 'list',
};

const begin = () => {
  if (dialect === 'claude') say({ type: 'system', subtype: 'init', session_id: 's1', claude_code_version: '0.0.1' });
};
const succeed = () => {
  const same = { type: 'result', is_error: false, result: 'All done.' };
  if (dialect === 'claude') say({ ...same, subtype: 'success', session_id: 's1', total_cost_usd: 0.01, modelUsage: { m: usage } });
  else if (behaviour === 'final-then-hang') say(same);
  else process.stdout.write('All done.\n');
};
const forever = () => setInterval(() => {}, 1_000_000);

begin();
switch (behaviour) {
  case 'work': {
    // The last line of the prompt is `hash <sha256 of all lines before>`.
    const prompt = await text(process.stdin);
    const cut = prompt.lastIndexOf('hash ');
    const hash = createHash('sha256').update(prompt.slice(0, cut)).digest('hex');
    if (prompt.slice(cut).trim() !== `hash ${hash}`) process.exit(9);
    writeFileSync('done.txt', prompt.slice(cut));
    succeed();
    break;
  }
  case 'environment':
    writeFileSync('environment.json', JSON.stringify(process.env));
    succeed();
    break;
  case 'fail':
    process.stderr.write('a last word on stderr\n');
    process.exitCode = 3;
    break;
  case 'die':
    process.kill(process.pid, 'SIGKILL');
    break;
  case 'late-success': {
    const finish = () => {
      succeed();
      process.exit(0);
    };
    process.on('SIGINT', finish);
    process.on('SIGTERM', finish);
    process.stdout.write('ready\n');
    forever();
    break;
  }
  case 'silent':
    forever();
    break;
  case 'garbage':
    for (let round = 0; round < 20; round += 1) process.stdout.write(Uint8Array.from({ length: 256 }, (_, value) => value));
    process.stdout.write(Uint8Array.of(0x0a, 0x80, 0xbf, 0x0a, 0x00, 0x0a));
    process.stdout.write('{"type":"result","subt\n"is_error": true\nError: rate limit\n\u001B[31m');
    process.stdout.write('\n');
    succeed();
    break;
  case 'final-then-hang':
    succeed();
    // A helper in a session of its own keeps the pipe open as well.
    spawn('sleep', ['3600'], { detached: true, stdio: 'inherit' }).unref();
    forever();
    break;
  default:
    process.stderr.write(`no behaviour ${behaviour}\n`);
    process.exitCode = 64;
}
