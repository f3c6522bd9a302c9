// The engine against a model in memory: random handlers, a crash at any write of the journal (before or after COMMIT), restarts.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fault } from '../../src/core/fault.ts';
import { runId } from '../../src/core/ids.ts';
import type { Engine, LoopHandler, RunContext, RunHandle } from '../../src/journal/index.ts';
import { openReader } from '../../src/journal/index.ts';
import { loop, makeLab } from './lab.ts';

type Operation = { readonly do: 'step' | 'fail' | 'record' | 'value' } | { readonly do: 'parallel'; readonly width: number };
type Crash = { readonly commit: number; readonly when: 'before' | 'after' };

const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom('step' as const, 'step' as const, 'fail' as const, 'record' as const, 'value' as const) }),
    fc.record({ do: fc.constant('parallel' as const), width: fc.integer({ min: 2, max: 4 }) }),
  ),
  { minLength: 1, maxLength: 6 },
);
const crashes: fc.Arbitrary<readonly Crash[]> = fc.array(
  fc.record({ commit: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before' as const, 'after' as const) }),
  { minLength: 1, maxLength: 5 },
);

/** What the model knows: how often each effect happened, what was acknowledged, and what the journal held at the last crash. */
const createModel = () => {
  const performed = new Map<string, number>();
  const acknowledged = new Set<string>();
  let recorded: ReadonlySet<string> = new Set();
  const violations: string[] = [];
  return {
    performed,
    acknowledged,
    violations,
    perform: (name: string): void => {
      if (recorded.has(name) || acknowledged.has(name)) violations.push(`${name} was performed after it was recorded`);
      performed.set(name, (performed.get(name) ?? 0) + 1);
    },
    seeJournal: (stateHome: string): void => {
      using reader = openReader(stateHome);
      const ended = (reader?.facts() ?? []).filter((fact) => fact.kind === 'step.completed' || fact.kind === 'step.failed');
      recorded = new Set(ended.map((fact) => `${fact.run}/${(fact.data as { key: string }).key}`));
    },
  };
};

type Model = ReturnType<typeof createModel>;

const performOne = async (ctx: RunContext, model: Model, operation: { readonly do: string; readonly key: string }): Promise<unknown> => {
  const { key } = operation;
  const name = `${ctx.run.id}/${key}`;
  switch (operation.do) {
    case 'record':
      await ctx.record(key, 'note.made', { name });
      model.acknowledged.add(name);
      return 'noted';
    case 'value':
      return Math.sign(await ctx.now(key));
    case 'fail':
      return ctx
        .step(key, {}, async () => {
          model.perform(name);
          throw new Fault('ON_PURPOSE', name);
        })
        .catch((error: unknown) => {
          if (!(error instanceof Fault) || error.code !== 'ON_PURPOSE') throw error;
          model.acknowledged.add(name);
          return 'failed as planned';
        });
    default: {
      const outcome = await ctx.step(key, {}, async () => {
        model.perform(name);
        await Promise.resolve();
        return name;
      });
      model.acknowledged.add(name);
      return outcome;
    }
  }
};

const handlerOf =
  (program: readonly Operation[], model: Model): LoopHandler['handle'] =>
  async (ctx) => {
    const outputs: unknown[] = [];
    for (const [index, operation] of program.entries()) {
      const names = operation.do === 'parallel' ? Array.from({ length: operation.width }, (_, lane) => `${index}.${lane}`) : [`${index}`];
      outputs.push(await Promise.all(names.map((key) => performOne(ctx, model, { do: operation.do, key }))));
    }
    return outputs;
  };

/** What the handler gives when nothing ever goes wrong. */
const expectedOutput = (id: string, program: readonly Operation[]): unknown =>
  program.map((operation, index) => {
    if (operation.do === 'parallel') return Array.from({ length: operation.width }, (_, lane) => `${id}/${index}.${lane}`);
    const single = { step: `${id}/${index}`, fail: 'failed as planned', record: 'noted', value: 1 };
    return [single[operation.do]];
  });

test(
  'P1 P2 whatever write a crash falls on, no recorded effect happens twice and no acknowledged fact is lost',
  { timeout: 240_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operations, { minLength: 1, maxLength: 3 }), crashes, async (programs, plan) => {
        await using lab = makeLab('gyre-crash-');
        const model = createModel();
        const handlers = programs.map((program, index) => loop(handlerOf(program, model), `loop-${index}`));

        const startAll = async (engine: Engine): Promise<readonly RunHandle[]> => {
          const resumed = await engine.recover(handlers);
          const started = await Promise.all(
            handlers.map((handler, index) => engine.start(handler, null, { id: runId(`r${index}`), dedupeKey: `task-${index}` })),
          );
          return [...resumed, ...started];
        };
        const live = async (crash: Crash | undefined): Promise<void> => {
          let commits = 0;
          const at = (when: Crash['when']) => (): void => {
            if (when === 'before') commits += 1;
            if (crash?.when === when && crash.commit === commits) throw new Fault('CRASHED', 'The test ends the engine here.');
          };
          const engine = await lab.open({}, { beforeCommit: at('before'), afterCommit: at('after') });
          try {
            const handles = await startAll(engine);
            await Promise.all(handles.map((handle) => handle.ended));
          } catch (error) {
            expect(error).toMatchObject({ code: 'CRASHED' });
          }
          await engine[Symbol.asyncDispose]();
          model.seeJournal(lab.stateHome);
        };

        for (const crash of plan) await live(crash);
        await live(undefined);

        using reader = openReader(lab.stateHome);
        expect(model.violations).toEqual([]);
        expect(reader?.verify()).toMatchObject({ ok: true });
        for (const [index, program] of programs.entries()) {
          expect(reader?.run(`r${index}`)).toMatchObject({ state: 'done', output: expectedOutput(`r${index}`, program) });
        }
        const facts = reader?.facts() ?? [];
        const nameOf = (fact: (typeof facts)[number]) => `${fact.run}/${(fact.data as { key: string }).key}`;
        const kept = facts.map((fact) => (fact.kind === 'note.made' ? (fact.data as { name: string }).name : nameOf(fact)));
        for (const name of model.acknowledged) expect(kept).toContain(name);
        const notes = facts.filter((fact) => fact.kind === 'note.made').map((fact) => (fact.data as { name: string }).name);
        expect(new Set(notes).size).toBe(notes.length);
        // Every performance was announced: at most as many as there are intents.
        const intents = facts.filter((fact) => fact.kind === 'step.intended').map(nameOf);
        for (const [name, times] of model.performed)
          expect(intents.filter((intent) => intent === name).length).toBeGreaterThanOrEqual(times);
      }),
      { numRuns: 40 },
    );
  },
);
