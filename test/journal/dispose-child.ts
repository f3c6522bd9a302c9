// Run as a process of its own: opens an engine, leaves runs sleeping and waiting, closes it, and must then end by itself.
import { epochMs, runId } from '../../src/core/ids.ts';
import { openEngine } from '../../src/journal/index.ts';
import { createTestProcessHost } from './test-process-host.ts';

const stateHome = process.argv[2] ?? '';
const engine = await openEngine({ stateHome, processes: createTestProcessHost(), clock: () => epochMs(Date.now()), chance: () => 0 });
const handler = {
  name: 'sleeper',
  version: 1,
  handle: async (ctx: Parameters<Parameters<typeof engine.start>[0]['handle']>[0]) => ctx.sleep('long', 3_600_000),
};
for (const id of ['r1', 'r2']) await engine.start(handler, null, { id: runId(id), dedupeKey: id });
await engine[Symbol.asyncDispose]();
