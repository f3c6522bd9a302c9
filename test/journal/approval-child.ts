// Run as a process of its own, killed and started again by approval.test.ts: serves the loop until its only run has ended. Argument: state home.
import { epochMs } from '../../src/core/ids.ts';
import { type LoopHandler, openEngine } from '../../src/journal/index.ts';
import { createTestProcessHost } from './test-process-host.ts';

const stateHome = process.argv[2] ?? '';

/** The loop of the schema-1 fixture, as a later release of it: it asks a person before it lands. */
const handler: LoopHandler = {
  name: 'fixture',
  version: 1,
  handle: async (ctx) => {
    const first = await ctx.step('a', {}, async () => 'performed again');
    const answer = await ctx.waitFor<string>('land', { signal: 'approval', describe: 'Land it?' });
    return answer.kind === 'signal' ? [first, answer.value, answer.by] : [];
  },
};

const engine = await openEngine({ stateHome, processes: createTestProcessHost(), clock: () => epochMs(Date.now()), chance: Math.random });
const handle = (await engine.serve([handler])).find(({ id }) => id === 'open');
process.stdout.write('serving\n');
await handle?.ended;
await engine[Symbol.asyncDispose]();
