// A program of a scenario as the handler of a loop.
import { Fault } from '../../../src/core/fault.ts';
import type { LoopHandler, RunContext } from '../../../src/journal/index.ts';
import type { Leaf, Operation } from './scenario.ts';

/** Told of each effect, by the name of its step, before it happens. */
export type Perform = (name: string) => void;

const planned = (error: unknown): string => {
  if (error instanceof Fault && ['ON_PURPOSE', 'CHILD_FAILED'].includes(error.code)) return error.code;
  throw error;
};

const failing = (ctx: RunContext, key: string, perform: Perform): Promise<never> =>
  ctx.step(key, {}, async ({ idempotencyKey }) => {
    perform(idempotencyKey);
    await Promise.resolve();
    throw new Fault('ON_PURPOSE', `${key} fails.`);
  });

const playLeaf = async (
  ctx: RunContext,
  perform: Perform,
  { key, path, leaf }: { readonly key: string; readonly path: string; readonly leaf: Leaf },
): Promise<unknown> => {
  switch (leaf.do) {
    case 'step':
      return ctx.step(key, {}, async ({ idempotencyKey }) => {
        perform(idempotencyKey);
        await Promise.resolve();
        return idempotencyKey;
      });
    case 'fail':
      return failing(ctx, key, perform);
    case 'record':
      return ctx.record(key, 'note.made', { run: ctx.run.id, path });
    case 'value':
      return Math.sign(await ctx.now(key));
    case 'sleep':
      return ctx.sleep(key, leaf.ms);
    case 'charge':
      return ctx.step(key, {}, async (step) => {
        perform(step.idempotencyKey);
        step.charge({ usd: leaf.amount });
      });
  }
};

const playOperation = async (
  ctx: RunContext,
  perform: Perform,
  { key, operation }: { readonly key: string; readonly operation: Operation },
): Promise<unknown> => {
  switch (operation.do) {
    case 'throw':
      throw new Fault('THROWN_ON_PURPOSE', 'The program ends here.');
    case 'retry': {
      const { failures, max } = operation;
      return ctx.step(key, { retry: { max, baseMs: 10 } }, async ({ attempt, idempotencyKey }) => {
        perform(idempotencyKey);
        await Promise.resolve();
        if (attempt <= failures) throw new Fault('ON_PURPOSE', `Attempt ${attempt} fails.`);
        return attempt;
      });
    }
    case 'wait': {
      const { signal, timeoutMs } = operation;
      const answer = await ctx.waitFor(key, { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      return answer.kind === 'signal' ? answer.value : 'too late';
    }
    case 'child': {
      const child = await ctx.child(key, programLoop(perform), operation.program, { detached: !operation.isAwaited });
      return operation.isAwaited ? child.result() : child.id;
    }
    case 'map': {
      const items = Array.from({ length: operation.items }, (_, index) => `${index}`);
      const options = { concurrency: operation.concurrency, onError: 'collect', itemKey: (item: string) => item } as const;
      return ctx.map(key, items, options, (scoped, item) =>
        playLeaf(scoped, perform, { key: 'x', path: `${key}/${item}`, leaf: operation.each }),
      );
    }
    case 'race':
      return ctx.race<unknown>(key, {
        first: (scoped) => playLeaf(scoped, perform, { key: 'x', path: key, leaf: operation.first }),
        second: (scoped) => scoped.sleep('x', 10_000),
      });
    case 'step':
    case 'fail':
    case 'record':
    case 'value':
    case 'sleep':
    case 'charge':
      return playLeaf(ctx, perform, { key, path: key, leaf: operation });
  }
};

/** The loop whose input is a program; its output says what each operation gave. */
export const programLoop = (perform: Perform): LoopHandler => ({
  name: 'program',
  version: 1,
  handle: async (ctx, input) => {
    const outputs: unknown[] = [];
    ctx.cleanup('tidy', async () => {});
    for (const [index, operation] of (input as readonly Operation[]).entries()) {
      const key = `${index}-${operation.do}`;
      const output: unknown = await playOperation(ctx, perform, { key, operation }).catch((error: unknown) => planned(error));
      outputs.push(output ?? null);
    }
    return outputs;
  },
});
