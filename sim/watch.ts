// Invariants that can be checked while things happen.
import type { DatabaseSync } from 'node:sqlite';
import { attemptsOf, inputOf } from '../src/loop/index.ts';
import type { JournalReader } from '../src/journal/index.ts';
import type { Accuse } from './invariants.ts';
import { createLedger, type Ledger, type LedgerFact } from './ledger.ts';
import type { SimProcess } from './machine.ts';
import type { AgentOrder } from './programs.ts';
import type { World } from './world.ts';

export interface Watch {
  readonly ledger: Ledger;
  /** After every commit. */
  committed(): void;
  processStarted(process: SimProcess): void;
  /** Before an effect of a step is performed. */
  performs(step: { readonly run: string; readonly generation: number; readonly key: string; readonly isCleanup: boolean }): void;
  landed(): void;
  /** A person opened a run beside the dispatcher. */
  extraRun(): void;
}

export interface WatchParts {
  readonly db: DatabaseSync;
  readonly world: World;
  readonly alive: () => readonly SimProcess[];
  /** Of the living engine. */
  readonly reader: () => JournalReader | undefined;
  /** Most runs at once, by loop and over all, as high as they ever were. */
  readonly limits: { readonly machine: number; readonly loops: ReadonlyMap<string, number> };
  readonly accuse: Accuse;
  readonly told: (fact: LedgerFact) => void;
}

const orderOf = (process: SimProcess): AgentOrder | undefined =>
  process.spec.command === 'agent' ? (JSON.parse(process.spec.args[0] ?? 'null') as AgentOrder) : undefined;

export const createWatch = ({ db, world, alive, reader, limits, accuse, told }: WatchParts): Watch => {
  const ledger = createLedger(db);
  const agentStarts = new Set<string>();
  let extraRuns = 0;
  let landingsSeen = 0;

  const onFact = (fact: LedgerFact): void => {
    told(fact);
    const run = ledger.runs.get(fact.run);
    if (run === undefined) return;
    if (fact.kind === 'run.started' || fact.kind === 'run.reopened') {
      for (const other of ledger.runs.values())
        if (other !== run && other.isOpen && other.dedupeKey === run.dedupeKey)
          accuse('INV-01', `Runs ${other.id} and ${run.id} are open for ${run.dedupeKey}.`);
      if (run.starts > 1) accuse('INV-12', `Run ${run.id} was started ${run.starts} times.`);
    }
    if (fact.kind === 'run.ended') {
      const ends = run.ends.get(Number(fact.data['generation'])) ?? 0;
      if (ends !== 1) accuse('INV-08', `Stretch ${String(fact.data['generation'])} of run ${run.id} ended ${ends} times.`);
      for (const process of alive())
        if (process.spec.marker === run.id)
          accuse('INV-13', `Run ${run.id} has ended, and ${process.spec.command} in ${process.jobDir} is alive.`);
    }
  };

  const agentStarted = (order: AgentOrder): void => {
    const others = alive().flatMap((process) => orderOf(process) ?? []);
    const onTask = others.filter((other) => other.task === order.task);
    if (onTask.length > 1)
      accuse('INV-01', `Agents of runs ${onTask.map(({ run }) => run).join(' and ')} are alive on task ${order.task}.`);
    const run = ledger.runs.get(order.run);
    const start = `${order.run}@${run?.generation ?? 0}/a${order.attempt}`;
    if (agentStarts.has(start)) accuse('INV-05', `A second agent was started for ${start}.`);
    agentStarts.add(start);

    const row = reader()?.run(order.run);
    if (row !== undefined) {
      const used = attemptsOf(row).filter(({ record }) => record.blocked === undefined && record.attempt < order.attempt).length;
      const most = inputOf(row).loop.stop.attempts;
      if (used >= most) accuse('INV-10', `Attempt ${order.attempt} of run ${order.run} begins after ${used} of ${most}.`);
    }
    if (others.length > limits.machine + extraRuns)
      accuse('INV-17', `${others.length} agents are alive, and the limit is ${limits.machine}.`);
    const { loop } = world.task(order.task);
    const ofLoop = others.filter((other) => world.task(other.task).loop === loop).length;
    const most = limits.loops.get(loop) ?? 1;
    if (ofLoop > most + extraRuns) accuse('INV-17', `${ofLoop} agents of ${loop} are alive, and the limit is ${most}.`);
  };

  return {
    ledger,
    committed: () => ledger.read(onFact),
    processStarted: (process) => {
      const { marker, command } = process.spec;
      const order = orderOf(process);
      if (order !== undefined) agentStarted(order);
      const isOfRun = command !== 'list-tasks';
      if (isOfRun && ledger.runs.get(marker)?.isOpen !== true)
        accuse('INV-14', `${command} is started for run ${marker}, which is not open.`);
    },
    performs: ({ run, generation, key, isCleanup }) => {
      if (ledger.runs.get(run)?.completed.has(isCleanup ? `${key}@${generation}` : key) === true)
        accuse('INV-04', `Step ${key} of run ${run} is performed again, and its outcome is recorded.`);
    },
    landed: () => {
      for (const landing of world.landings.slice(landingsSeen)) {
        const { run, task, commit } = landing;
        if (!world.judgements.some((one) => one.run === run && one.commit === commit && one.pass))
          accuse('INV-02', `Run ${run} landed ${commit}, which was not judged a pass.`);
        const truth = world.commit(commit);
        if (truth.isBroken || !truth.done.has(task)) accuse('INV-02', `Run ${run} landed ${commit}, in which ${task} is not done well.`);
        for (const other of world.landings.slice(0, world.landings.indexOf(landing))) {
          if (other.run === run) accuse('INV-03', `Run ${run} landed twice.`);
          else if (other.task === task && (other.as === landing.as || world.isOnTarget(other.commit)))
            accuse('INV-03', `Run ${run} landed ${task}, which run ${other.run} had landed.`);
        }
      }
      landingsSeen = world.landings.length;
    },
    extraRun: () => {
      extraRuns += 1;
    },
  };
};
