// Where a sabotage takes hold of one life.
import type { DatabaseSync } from 'node:sqlite';
import { runId } from '../src/core/ids.ts';
import type { Engine } from '../src/journal/index.ts';
import type { TickDesk } from '../src/loop/index.ts';
import type { ProcessHost } from '../src/process/index.ts';
import type { Registers, Ticks } from '../src/schedule/index.ts';
import type { WorldParts } from './fake-parts.ts';
import type { Sabotage } from './sabotage.ts';
import { never, type Stage } from './stage.ts';

interface BrokenLife {
  beforeOpen(): void;
  parts(parts: WorldParts): WorldParts;
  engine(engine: Engine): Engine;
  processes(processes: ProcessHost): ProcessHost;
  registers(registers: Registers): Registers;
  ticks(ticks: Ticks): Ticks;
  desk(desk: TickDesk): Pick<TickDesk, 'wake'>;
}

const honest: BrokenLife = {
  beforeOpen: () => {},
  parts: (parts) => parts,
  engine: (engine) => engine,
  processes: (processes) => processes,
  registers: (registers) => registers,
  ticks: (ticks) => ticks,
  desk: (desk) => desk,
};

export const sabotageLife = (
  sabotage: Sabotage | undefined,
  { stage, db }: { readonly stage: Stage; readonly db: DatabaseSync },
): BrokenLife => {
  switch (sabotage) {
    case undefined:
      return honest;
    case 'lands-unjudged':
      // The combined change is not asked about.
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
    case 'forgets-outcome':
      return { ...honest, beforeOpen: () => forgetOutcomes(db) };
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
    case 'counts-no-spend':
      return {
        ...honest,
        parts: (parts) => ({
          ...parts,
          agentFor: (loop, prefix) => {
            const agent = parts.agentFor(loop, prefix);
            return {
              ...agent,
              reader: (request) => {
                const reader = agent.reader(request);
                return { ...reader, finish: (end) => ({ ...reader.finish(end), spend: { usd: 0, tokens: 0 } }) };
              },
            };
          },
        }),
      };
    case 'overspends':
      return {
        ...honest,
        parts: (parts) => ({
          ...parts,
          agentFor: (loop, prefix) => {
            const agent = parts.agentFor(loop, prefix);
            return { ...agent, spec: (request) => agent.spec({ ...request, budgetUsd: undefined }) };
          },
        }),
      };
    case 'never-ends':
      return { ...honest, parts: (parts) => ({ ...parts, verifier: { verify: () => never() } }) };
    case 'leaves-process':
      return {
        ...honest,
        processes: (processes) => ({
          ...processes,
          open: async (jobDir, spec) => {
            if (spec.command === 'agent') await processes.open(`${jobDir}/left`, { ...spec, command: 'set-up', limits: { ...spec.limits } });
            return processes.open(jobDir, spec);
          },
        }),
        parts: (parts) => ({ ...parts, sweep: async () => 0 }),
      };
    case 'forgets-parked':
      return { ...honest, desk: () => ({ wake: () => Promise.reject(new Error('sabotage')) }) };
  }
};

/** Takes recorded outcomes out of the rows; the facts still say that they were there. */
const forgetOutcomes = (db: DatabaseSync): void => {
  const has = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'steps'").get();
  if (has !== undefined) db.exec("UPDATE steps SET state = 'intended', outcome = NULL WHERE kind = 'step' AND state = 'done'");
};
