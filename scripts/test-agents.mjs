// Runs the end-to-end tests with real agents: `node scripts/test-agents.mjs [vitest arguments]`.
//
// 1. Installs the pinned agents (e2e/package-lock.json) when that lock has changed. Only this step needs a network.
// 2. Runs vitest where loopback is the only network, if the system allows to make such a place (Linux `unshare -n`); else says so.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const e2e = path.join(root, 'e2e');

const say = (sentence) => process.stderr.write(`${sentence}\n`);

/** `npm ci` in e2e/, unless its packages come from the present lock file. False when npm failed. */
const installAgents = () => {
  const stamp = path.join(e2e, 'node_modules', '.installed-from');
  const wanted = createHash('sha256')
    .update(readFileSync(path.join(e2e, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  say('Installing the pinned agents into e2e/node_modules (once, about 400 MB) ...');
  rmSync(stamp, { force: true });
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const done = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: e2e, stdio: ['ignore', 2, 2] });
  if (done.status !== 0) return false;
  writeFileSync(stamp, wanted);
  return true;
};

// A new network namespace has a loopback device that is down.
const inside = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

/** The words that put a command into a network of its own: as root, else as root of a user namespace; undefined where neither works. */
const closedNetwork = () =>
  [['-n'], ['-r', '-n']]
    .map((flags) => ['unshare', ...flags, '--', ...inside])
    .find(([command, ...args]) => spawnSync(command, [...args, 'true'], { stdio: 'ignore' }).status === 0);

const main = () => {
  if (!installAgents()) {
    say('npm ci failed in e2e. Its messages are above.');
    return 2;
  }
  const closed = closedNetwork();
  if (closed === undefined)
    say('Not proven in this run: that no agent needs the internet. Here `unshare -n` or `ip link set lo up` does not work.');
  const vitest = [
    process.execPath,
    path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '-c',
    path.join(e2e, 'vitest.config.ts'),
  ];
  const [command, ...args] = [...(closed ?? []), ...vitest, ...process.argv.slice(2)];
  const env = closed === undefined ? process.env : { ...process.env, GYRE_E2E_NETWORK: 'loopback' };
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', env }).status ?? 1;
};

process.exitCode = main();
