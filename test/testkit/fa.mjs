// The fixture agent of the field reports: a real program that performs the steps scripted for its n-th call and keeps a ledger outside
// the repository. Usage: node fa.mjs <script.json> <ledger.jsonl>
// script.json: { "calls": [[step, ...], ...], "last": "repeat" | "stop" }; step objects, performed in order:
//   {print: text} {printBytes: base64} {write: path, text} {append: path, text} {replace: path, from, to} {remove: path} {sh: command}
//   {sleep: ms} {flood: ms} {child: "holds-stdout" | "ignores-signals" | "setsid"} {event: object} {slow: text, pauseMs} {exit: code}
import { spawn, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const [scriptFile, ledgerFile] = process.argv.slice(2);
const script = JSON.parse(fs.readFileSync(scriptFile, 'utf8'));
const prompt = fs.readFileSync(0);
const earlier = fs.existsSync(ledgerFile)
  ? fs
      .readFileSync(ledgerFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"start"')).length
  : 0;
const call = earlier + 1;
const note = (entry) => fs.appendFileSync(ledgerFile, `${JSON.stringify({ call, pid: process.pid, at: Date.now(), ...entry })}\n`);
note({
  kind: 'start',
  cwd: process.cwd(),
  argv: process.argv,
  env: Object.keys(process.env),
  attempt: process.env.GYRE_ATTEMPT,
  promptBytes: prompt.length,
  promptSha256: createHash('sha256').update(prompt).digest('hex'),
  prompt: prompt.length < 200_000 ? prompt.toString('utf8') : undefined,
});
const write = (data) => new Promise((resolve) => process.stdout.write(data, resolve));

const children = {
  'holds-stdout': () => spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600000)'], { stdio: ['ignore', 'inherit', 'inherit'] }),
  'ignores-signals': () =>
    spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setTimeout(() => {}, 600000)"], {
      stdio: 'ignore',
    }),
  setsid: () => spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600000)'], { stdio: 'ignore', detached: true }),
};

const perform = async (step) => {
  if ('print' in step) await write(`${step.print}\n`);
  else if ('printBytes' in step) await write(Buffer.from(step.printBytes, 'base64'));
  else if ('write' in step) fs.writeFileSync(step.write, step.text);
  else if ('append' in step) fs.appendFileSync(step.append, step.text);
  else if ('replace' in step) fs.writeFileSync(step.replace, fs.readFileSync(step.replace, 'utf8').replace(step.from, step.to));
  else if ('remove' in step) fs.rmSync(step.remove, { recursive: true, force: true });
  else if ('sh' in step) execFileSync('sh', ['-c', step.sh], { stdio: ['ignore', 'inherit', 'inherit'] });
  else if ('sleep' in step) await delay(step.sleep);
  else if ('slow' in step) {
    for (const byte of Buffer.from(`${step.slow}\n`)) {
      await write(Buffer.from([byte]));
      if (byte > 127) await delay(step.pauseMs ?? 5);
    }
  } else if ('event' in step) await write(`${JSON.stringify(step.event)}\n`);
  else if ('flood' in step) {
    const end = Date.now() + step.flood;
    const line = `${'x'.repeat(99)}\n`.repeat(100);
    while (Date.now() < end) await write(line);
  } else if ('child' in step) {
    const child = children[step.child]();
    note({ kind: 'child', child: child.pid });
    child.unref();
  } else if ('exit' in step) {
    note({ kind: 'end', exit: step.exit });
    process.exit(step.exit);
  } else throw new Error(`unknown step ${JSON.stringify(step)}`);
};

const { calls } = script;
const steps = calls[call - 1] ?? (script.last === 'repeat' ? calls.at(-1) : []);
for (const step of steps) await perform(step);
note({ kind: 'end', exit: 0 });
process.exit(0);
