// Waits, children, races, maps, retries and charges against a crash at any write: engine after engine on one database in memory.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fault } from '../../src/core/fault.ts';
import { epochMs, runId } from '../../src/core/ids.ts';
import type { Engine, JournalReader, LoopHandler, RunContext } from '../../src/journal/index.ts';
import { factsOf, makeGround } from './memory-ground.ts';

const kinds = ['wait', 'sleep', 'child', 'race', 'map', 'retry', 'charge'] as const;
type Kind = (typeof kinds)[number];
type Program = readonly Kind[];

const programs: fc.Arbitrary<readonly Program[]> = fc.array(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 3,
});
const crashes = fc.array(
  fc.record({ commit: fc.integer({ min: 1, max: 25 }), when: fc.constantFrom('before' as const, 'after' as const) }),
  { minLength: 1, maxLength: 6 },
);

/** What happened in the world, and what the journal held of it when the last engine died. */
const createWorld = () => {
  let recorded: ReadonlySet<string> = new Set();
  const violations: string[] = [];
  return {
    violations,
    perform: (name: string): void => {
      if (recorded.has(name)) violations.push(`${name} was performed after it was recorded`);
    },
    seeJournal: (reader: JournalReader): void => {
      const ends = ['step.completed', 'step.failed', 'step.retried'].flatMap((kind) => factsOf(reader, kind));
      recorded = new Set(ends.map(({ run, data }) => `${run}/${String(data['key'])}#${Number(data['attempt'] ?? 0)}`));
    },
  };
};
type World = ReturnType<typeof createWorld>;

const effect = async (world: World, ctx: RunContext, step: { readonly key: string; readonly whole: string }): Promise<string> =>
  ctx.step(step.key, {}, async () => {
    world.perform(`${ctx.run.id}/${step.whole}#0`);
    return step.whole;
  });

const childHandler = (world: World): LoopHandler => ({
  name: 'child',
  version: 1,
  handle: async (ctx) => {
    await ctx.sleep('nap', 700);
    return effect(world, ctx, { key: 'work', whole: 'work' });
  },
});

const performOne = async (world: World, ctx: RunContext, { kind, key }: { kind: Kind; key: string }): Promise<unknown> => {
  switch (kind) {
    case 'wait': {
      const got = await ctx.waitFor(key, { signal: 'go', describe: 'may it go on?' });
      return got.kind === 'signal' ? got.value : 'timeout';
    }
    case 'sleep':
      return ctx.sleep(key, 900).then(() => 'awake');
    case 'child':
      return (await ctx.child<string>(key, childHandler(world), null)).result();
    case 'race': {
      const { winner } = await ctx.race(key, {
        slow: (scoped) => scoped.sleep('nap', 3_600_000).then(() => 'slow'),
        never: (scoped) => scoped.waitFor('answer', { signal: 'never-given' }).then(() => 'never'),
        quick: (scoped) => effect(world, scoped, { key: 'do', whole: `${key}/quick/do` }),
      });
      return winner;
    }
    case 'map': {
      const options = { concurrency: 2, onError: 'stop' as const, itemKey: (item: string) => item };
      const results = await ctx.map(key, ['a', 'b', 'c'], options, (scoped, item) =>
        effect(world, scoped, { key: 'do', whole: `${key}/${item}/do` }),
      );
      return results.length;
    }
    case 'retry':
      return ctx.step(key, { retry: { max: 2, baseMs: 500 } }, async ({ attempt, charge }) => {
        world.perform(`${ctx.run.id}/${key}#${attempt}`);
        charge({ cents: 1 });
        if (attempt < 3) throw new Fault('NOT_YET', 'Not yet.');
        return attempt;
      });
    case 'charge':
      return ctx.budget.charge(key, { cents: 10 }).then(() => 'charged');
  }
};

const handlerOf = (world: World, program: Program, index: number): LoopHandler => ({
  name: `loop-${index}`,
  version: 1,
  handle: async (ctx) => {
    const outputs: unknown[] = [];
    for (const [at, kind] of program.entries()) outputs.push(await performOne(world, ctx, { kind, key: `k${at}` }));
    return outputs;
  },
});

const expectedOf = (program: Program): unknown => {
  let waits = 0;
  const fixed = { sleep: 'awake', child: 'work', race: 'quick', map: 3, retry: 3, charge: 'charged' };
  return program.map((kind) => (kind === 'wait' ? (waits += 1) : fixed[kind]));
};

const centsOf = (facts: readonly { run: string; data: Record<string, unknown> }[], run: string): number =>
  facts
    .filter((fact) => fact.run === run)
    .reduce((sum, { data }) => sum + ((data['charge'] as { cents?: number } | undefined)?.cents ?? 0), 0);

test(
  'P1 P2 L5 whatever write a crash falls on, waits, children, races, maps and retries go on, and nothing recorded happens twice',
  { timeout: 240_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(programs, crashes, async (all, plan) => {
        await using ground = makeGround();
        const world = createWorld();
        const handlers = [...all.map((program, index) => handlerOf(world, program, index)), childHandler(world)];
        const isOver = (engine: Engine): boolean => all.every((_, index) => engine.reader.run(`r${index}`)?.endedAt !== undefined);

        const startAll = async (engine: Engine): Promise<void> => {
          await engine.serve(handlers);
          for (const [index, program] of all.entries()) {
            const handler = handlers[index];
            if (handler === undefined) continue;
            await engine.start(handler, null, { id: runId(`r${index}`), dedupeKey: `task-${index}` });
            const waits = program.filter((kind) => kind === 'wait').length;
            for (let n = 1; n <= waits; n += 1) await engine.signal(`r${index}`, 'go', n, { dedupeKey: `signal-${n}`, by: 'test' });
          }
        };
        const live = async (crash: (typeof plan)[number] | undefined): Promise<void> => {
          let commits = 0;
          let hasCrashed = false;
          const at = (when: 'before' | 'after') => (): void => {
            if (when === 'before') commits += 1;
            if (crash?.when !== when || crash.commit !== commits) return;
            hasCrashed = true;
            throw new Fault('CRASHED', 'The test ends the engine here.');
          };
          const engine = await ground.open({}, { beforeCommit: at('before'), afterCommit: at('after') });
          const starting = startAll(engine).catch((error: unknown) => expect(error).toMatchObject({ code: 'CRASHED' }));
          await ground.passUntil('all runs to end', 300, () => hasCrashed || isOver(engine));
          await starting;
          world.seeJournal(engine.reader);
          await engine[Symbol.asyncDispose]();
        };
        for (const crash of plan) await live(crash);
        await live(undefined);

        const { reader } = await ground.open();
        expect(world.violations).toEqual([]);
        expect(reader.verify()).toMatchObject({ ok: true });
        const charged = ['step.completed', 'step.failed', 'step.retried'].flatMap((kind) => factsOf(reader, kind));
        for (const [index, program] of all.entries()) {
          const run = reader.run(`r${index}`);
          expect(run).toMatchObject({ state: 'done', output: expectedOf(program), waits: [] });
          expect(run?.spent['cents'] ?? 0).toBe(centsOf(charged, `r${index}`));
        }
        for (const { id } of reader.runs()) {
          for (const kind of ['run.started', 'run.ended'])
            expect(
              factsOf(reader, kind).filter(({ run }) => run === id),
              `${kind} of ${id}`,
            ).toHaveLength(1);
          expect(reader.signals(id).every(({ takenBy }) => takenBy !== undefined)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  },
);

test('DUR-01 an engine opens on a database in memory in a few milliseconds, as often as a simulator likes', async () => {
  await using ground = makeGround();
  for (let life = 1; life <= 200; life += 1) {
    const engine = await ground.open();
    expect(engine.health()).toMatchObject({ epoch: life, executing: 0, stopped: undefined });
    await engine[Symbol.asyncDispose]();
  }
  expect(ground.time.now()).toBe(epochMs(1_000_000_000_000));
});
