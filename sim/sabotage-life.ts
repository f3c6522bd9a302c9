// Where a sabotage takes hold of one life.
import type { DatabaseSync } from 'node:sqlite';
import type { AgentAdapter } from '../src/agent/index.ts';
import { runId } from '../src/core/ids.ts';
import type { Engine, LoopHandler } from '../src/journal/index.ts';
import type { RunInput, TickDesk } from '../src/loop/index.ts';
import type { ProcessHost } from '../src/process/index.ts';
import type { Registers, Ticks } from '../src/schedule/index.ts';
import type { WorldParts } from './fake-parts.ts';
import type { Sabotage } from './sabotage.ts';
import { never, type Stage } from './stage.ts';

export interface BrokenLife {
  /** What happens to the database while no engine has it. */
  beforeOpen(): void;
  parts(parts: WorldParts): WorldParts;
  engine(engine: Engine): Engine;
  taskHandler(handler: LoopHandler): LoopHandler;
  processes(processes: ProcessHost): ProcessHost;
  registers(registers: Registers): Registers;
  ticks(ticks: Ticks): Ticks;
  desk(desk: TickDesk): Pick<TickDesk, 'wake' | 'hasWoken'>;
  machineLimit(limit: number): number;
  /** Whether the disk refuses for good. */
  isDiskLost(): boolean;
}

const honest: BrokenLife = {
  beforeOpen: () => {},
  parts: (parts) => parts,
  engine: (engine) => engine,
  taskHandler: (handler) => handler,
  processes: (processes) => processes,
  registers: (registers) => registers,
  ticks: (ticks) => ticks,
  desk: (desk) => desk,
  machineLimit: (limit) => limit,
  isDiskLost: () => false,
};

const withAgent = (change: (agent: AgentAdapter) => AgentAdapter): BrokenLife => ({
  ...honest,
  parts: (parts) => ({ ...parts, agentFor: (loop, prefix) => change(parts.agentFor(loop, prefix)) }),
});

/** Each agent brings another process with it. */
const withCompanion = (command: string, markerOf: (marker: string) => string): BrokenLife => ({
  ...honest,
  processes: (processes) => ({
    ...processes,
    open: async (jobDir, spec) => {
      if (spec.command === 'agent') await processes.open(`${jobDir}/companion`, { ...spec, command, marker: markerOf(spec.marker) });
      return processes.open(jobDir, spec);
    },
  }),
});

const onDatabase = (db: DatabaseSync, sql: string): BrokenLife => ({ ...honest, beforeOpen: () => db.exec(sql) });

let lives = 0;

export const sabotageLife = (
  sabotage: Sabotage | undefined,
  { stage, db, calmAtMs }: { readonly stage: Stage; readonly db: DatabaseSync; readonly calmAtMs: number },
): BrokenLife => {
  switch (sabotage) {
    case undefined:
      return honest;
    case 'starts-twice':
      return {
        ...honest,
        engine: (engine) => ({
          ...engine,
          start: async (handler, input, options) => {
            if (handler.name === 'task')
              await engine.start(handler, input, { id: runId(`${options.id}x`), dedupeKey: `${options.dedupeKey}x` });
            return engine.start(handler, input, options);
          },
        }),
      };
    case 'lands-unjudged':
      // What becomes of the change on a target that has moved is not judged.
      return {
        ...honest,
        parts: (parts) => ({
          ...parts,
          lander: {
            ...parts.lander,
            land: (request) =>
              parts.lander.land({ ...request, verifyCombined: async () => ({ pass: true, why: '', evidence: request.evidence }) }),
          },
        }),
      };
    case 'lands-twice':
      // What an earlier life landed is not looked up.
      return { ...honest, parts: (parts) => ({ ...parts, lander: { ...parts.lander, find: () => stage.look(() => undefined) } }) };
    case 'forgets-outcome':
      // The facts still say that the outcomes were there.
      return onDatabase(db, "UPDATE steps SET state = 'intended', outcome = NULL WHERE kind = 'step' AND state = 'done'");
    case 'adopts-nothing':
      lives += 1;
      return {
        ...honest,
        processes: (processes) => ({ ...processes, open: (jobDir, spec) => processes.open(`${jobDir}/${lives}`, spec) }),
      };
    case 'counts-no-spend':
      return withAgent((agent) => ({
        ...agent,
        reader: (request) => {
          const reader = agent.reader(request);
          return { ...reader, finish: (end) => ({ ...reader.finish(end), spend: { usd: 0, tokens: 0 } }) };
        },
      }));
    case 'overspends':
      return withAgent((agent) => ({ ...agent, spec: (request) => agent.spec({ ...request, budgetUsd: undefined }) }));
    case 'ends-twice':
      return onDatabase(db, "UPDATE runs SET state = 'running', ended_at = NULL WHERE loop = 'task'");
    case 'never-ends':
      return { ...honest, parts: (parts) => ({ ...parts, verifier: { verify: () => never() } }) };
    case 'tries-on':
      return {
        ...honest,
        taskHandler: (handler) => ({
          ...handler,
          handle: (context, input) => {
            const { loop, ...rest } = input as RunInput;
            return handler.handle(context, { ...rest, loop: { ...loop, stop: { ...loop.stop, attempts: 9, noProgress: 9 } } });
          },
        }),
      };
    case 'forgets-window':
      return {
        ...honest,
        registers: (registers) => ({
          ...registers,
          put: (changes) => registers.put(changes.filter(({ register, value }) => register !== 'windows' || value === undefined)),
        }),
      };
    case 'fires-nothing':
      return { ...honest, ticks: (ticks) => ({ ...ticks, start: async () => undefined }) };
    case 'fires-twice':
      return {
        ...honest,
        ticks: (ticks) => ({
          ...ticks,
          start: async (window) => {
            await ticks.start(window);
            await ticks.start({ ...window, id: `${window.id}~` });
          },
        }),
      };
    case 'leaves-process': {
      const broken = withCompanion('stay', (marker) => marker);
      return { ...broken, parts: (parts) => ({ ...parts, sweep: async () => 0 }) };
    }
    case 'starts-unowned':
      return withCompanion('set-up', () => 'nobody');
    case 'loses-facts':
      return onDatabase(
        db,
        "DROP TRIGGER IF EXISTS facts_never_go; DELETE FROM facts WHERE seq = (SELECT max(seq) FROM facts WHERE kind = 'step.intended')",
      );
    case 'forgets-parked':
      return { ...honest, desk: (desk) => ({ ...desk, wake: () => Promise.reject(new Error('sabotage')) }) };
    case 'ignores-limits':
      return { ...honest, machineLimit: () => 99 };
    case 'loses-disk':
      return { ...honest, isDiskLost: () => stage.clock.uptimeMs() >= calmAtMs };
  }
};
