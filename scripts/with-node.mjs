// Runs one command of this project on a Node that Gyre supports, with its dependencies installed.
//
// It is plain JavaScript without dependencies, because it must start on the machine's own Node, which may be too old for Gyre and
// may face a clone in which nothing is installed yet. Two jobs, both done only where needed:
//   1. `npm ci` when node_modules is missing or was installed from another lock file;
//   2. Node 24 from the npm package `node` (tools/node) when the running Node is older than `engines.node`.
// Usage: node scripts/with-node.mjs <command> [args...]; `gyre` stands for the command line run from its sources.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const oldest = [22, 18];

/** True when the version string (`22.18.0`) is at least the oldest supported one. */
const isSupported = (version) => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
};

const fail = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
};

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** Two commands started at once must not install over each other: waits for the other one, takes over from a dead one. */
const takeLock = (file) => {
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    // An empty file is one being written: process number 0 counts as alive.
    const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (!isAlive(holder)) rmSync(file, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
};

/** Runs `npm ci` in a folder unless the lock file it was last installed from is the present one. */
const install = (folder, why) => {
  const lock = readFileSync(path.join(folder, 'package-lock.json'));
  const stamp = path.join(folder, 'node_modules', '.installed-from');
  const wanted = createHash('sha256').update(lock).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write(`${why}\n`);
  const release = takeLock(path.join(folder, '.installing'));
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return release();
  try {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    // The install's own output goes to stderr, so that `--json` on stdout stays clean.
    const done = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: ['ignore', 2, 2] });
    if (done.status === 0) writeFileSync(stamp, wanted);
    else process.exitCode = 2;
  } finally {
    release();
  }
  if (process.exitCode === 2) fail(`npm ci failed in ${folder}. Its messages are above.`);
};

install(root, 'Installing the dependencies (once) ...');

let nodeBin = process.execPath;
if (!isSupported(process.versions.node)) {
  const tools = path.join(root, 'tools', 'node');
  install(tools, `Node ${process.versions.node} is older than ${oldest.join('.')}: installing Node 24 into tools/node (once) ...`);
  nodeBin = path.join(tools, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined) fail('Usage: node scripts/with-node.mjs <command> [args...]');
const dirs = [path.dirname(nodeBin), path.join(root, 'node_modules', '.bin'), process.env.PATH ?? ''];
const env = { ...process.env, PATH: dirs.join(path.delimiter) };
const [command, commandArgs] =
  name === 'gyre' ? [nodeBin, [path.join(root, 'src', 'cli', 'main.ts'), ...args]] : [name === 'node' ? nodeBin : name, args];
const child = spawn(command, commandArgs, { stdio: 'inherit', env, shell: process.platform === 'win32' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => fail(`Could not start ${name}: ${error.message}`));
child.on('exit', (code, signal) => {
  if (signal !== null) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});
