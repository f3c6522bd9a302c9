// Run as a process of its own, killed and started again by kill.test.ts. Runs three runs at a time until the file `stop` is there, then
// ends. Arguments: state home, ledger, stop file. The ledger holds one line for each thing that happened in the world.
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { epochMs, runId } from '../../src/core/ids.ts';
import { type LoopHandler, openEngine } from '../../src/journal/index.ts';
import { createTestProcessHost, shellSpec } from './test-process-host.ts';

const [, , stateHome = '', ledger = '', stopFile = ''] = process.argv;
const note = (line: string): void => appendFileSync(ledger, `${line}\n`);

const handler: LoopHandler = {
  name: 'kill-loop',
  version: 1,
  handle: async (ctx) => {
    const { id } = ctx.run;
    ctx.cleanup('tidy', async () => note(`done ${id} tidy`));
    for (let index = 0; index < 6; index += 1) {
      await ctx.step(`step-${index}`, {}, async () => {
        note(`done ${id} step-${index}`);
        await delay(4);
        return index;
      });
    }
    await ctx.record('note', 'note.made', { id });
    note(`ack ${id}`);
    const { end } = await ctx.spawn('process', shellSpec(`echo 'process ${id}' >> '${ledger}'; sleep 0.05`, '/'));
    const [left, right] = await Promise.all([
      ctx.step('left', {}, async () => note(`done ${id} left`)),
      ctx.step('right', {}, async () => 'r'),
    ]);
    return { end, left, right };
  },
};

const engine = await openEngine({ stateHome, processes: createTestProcessHost(), clock: () => epochMs(Date.now()), chance: Math.random });
process.stdout.write('owned\n');
const open = new Set((await engine.recover([handler])).map((handle) => handle.ended));
let next = engine.reader.runs().length;
while (open.size > 0 || !existsSync(stopFile)) {
  while (open.size < 3 && !existsSync(stopFile)) {
    const handle = await engine.start(handler, null, { id: runId(`run-${next}`), dedupeKey: `task-${next}` });
    open.add(handle.ended);
    next += 1;
  }
  await Promise.race([...open].map(async (ended) => ended.then(() => open.delete(ended))));
}
await engine[Symbol.asyncDispose]();
