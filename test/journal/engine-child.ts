// Run as a process of its own: owns a state home until it is killed. Argument: state home.
import { epochMs } from '../../src/core/ids.ts';
import { openEngine } from '../../src/journal/index.ts';
import { createTestProcessHost } from './test-process-host.ts';

const stateHome = process.argv[2] ?? '';
try {
  await openEngine({ stateHome, processes: createTestProcessHost(), clock: () => epochMs(Date.now()), chance: () => 0 });
  process.stdout.write('owned\n');
  setInterval(() => {}, 1_000);
} catch (error) {
  process.stdout.write(`${(error as { code?: string }).code ?? String(error)}: ${(error as Error).message}\n`);
}
