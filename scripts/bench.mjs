// Builds the program as it is published, then runs one bench over it: `node scripts/bench.mjs <name> [options]`.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const [name, ...args] = process.argv.slice(2);
const built = spawnSync('tsdown', ['--log-level', 'error'], { stdio: ['ignore', 2, 2] });
if (built.status !== 0) process.exit(built.status ?? 1);
const done = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', path.join('bench', `${name}.ts`), ...args], {
  stdio: 'inherit',
});
process.exitCode = done.status ?? 1;
