// Invariants of a world that has come to rest.
import type { AgentRunResult } from '../src/core/agent-result.ts';
import type { EpochMs } from '../src/core/ids.ts';
import type { LoopDefinition } from '../src/core/loop-definition.ts';
import { addSpend, type Spend } from '../src/core/spend.ts';
import type { JournalReader, RunRow } from '../src/journal/index.ts';
import { inputOf, isTaskRun, outputOf, type Parked } from '../src/loop/index.ts';
import { parkedRegister } from '../src/loop/registers.ts';
import type { Accuse } from './invariants.ts';
import type { Ledger } from './ledger.ts';
import type { SimProcess } from './machine.ts';
import type { World } from './world.ts';

const roundingUsd = 1e-9;

export interface Rest {
  readonly reader: JournalReader;
  readonly ledger: Ledger;
  readonly world: World;
  readonly alive: readonly SimProcess[];
  readonly loops: readonly LoopDefinition[];
  readonly now: EpochMs;
  readonly accuse: Accuse;
}

const waking = /^[^/]+\/wake\/(.+)@(\d+)$/;

/** A tick was made to go on with a run, and the run stayed where it was, with nothing noted by which it will ever go on. */
const checkWoken = ({ reader, accuse }: Pick<Rest, 'reader' | 'accuse'>): void => {
  for (const tick of reader.runs({ states: ['done'] })) {
    const [, run = '', generation = ''] = waking.exec(tick.id) ?? [];
    const row = run === '' ? undefined : reader.run(run);
    if (row?.endedAt === undefined || row.generation !== Number(generation)) continue;
    const isNewest = reader.runs({ dedupeKey: row.dedupeKey }).every((other) => other.id === run || other.startedAt <= row.startedAt);
    if (isNewest && outputOf(row).again === 'by-person' && reader.registerEntry(parkedRegister, run) === undefined)
      accuse('INV-16', `The tick ${tick.id} has ended, and run ${run} was not gone on with and waits for nobody.`);
  }
};

/** INV-16, while everything still runs. */
export const checkParked = ({ reader, now, accuse }: Pick<Rest, 'reader' | 'now' | 'accuse'>): void => {
  checkWoken({ reader, accuse });
  for (const { key, value } of reader.register(parkedRegister)) {
    const { wake, generation } = value as Parked;
    const row = reader.run(key);
    if (row?.endedAt === undefined || row.generation !== generation || !('at' in wake)) continue;
    const isWoken = reader.run(`${inputOf(row).loop.name}/wake/${key}@${generation}`) !== undefined;
    if (!isWoken && wake.at + 60_000 < now) accuse('INV-16', `Run ${key} waits since ${now - wake.at} ms for a time that has come.`);
  }
};

const spendIn = (world: World, outcome: unknown): Spend => {
  const bytes = world.evidence.get(String(outcome));
  return bytes === undefined ? { usd: undefined, tokens: undefined } : (JSON.parse(bytes.toString('utf8')) as AgentRunResult).spend;
};

const checkSpend = ({ ledger, world, accuse }: Rest, row: RunRow): void => {
  const { usd } = outputOf(row).spend;
  const sessions = world.sessions.filter((session) => session.run === row.id);
  const recorded = [...(ledger.runs.get(row.id)?.sessions.values() ?? [])].map((outcome) => spendIn(world, outcome));
  if (usd !== undefined) {
    const real = sessions.reduce((sum, session) => sum + session.usd, 0);
    const said = addSpend([{ usd: 0, tokens: 0 }, ...recorded]).usd;
    if (Math.abs(usd - real) > roundingUsd)
      accuse('INV-06', `Run ${row.id} says $${usd}, and its ${sessions.length} sessions cost $${real}.`);
    if (said === undefined || Math.abs(usd - said) > roundingUsd)
      accuse('INV-06', `Run ${row.id} says $${usd}, and its records add up to $${said}.`);
  }
  const cap = inputOf(row).loop.stop.budgetUsd;
  const known = recorded.reduce((sum, spend) => sum + (spend.usd ?? 0), 0);
  if (cap !== undefined && known > cap + roundingUsd)
    accuse('INV-07', `Run ${row.id} is known to have spent $${known}, and its cap is $${cap}.`);
};

/** Everything but the windows, after the last run has ended. */
export const checkRest = (rest: Rest): void => {
  const { reader, ledger, alive, accuse } = rest;
  for (const row of reader.runs()) {
    if (row.endedAt === undefined) {
      if (row.state !== 'paused' && row.state !== 'needs-attention')
        accuse('INV-09', `Run ${row.id} (${row.loop}) is ${row.state} and does not end.`);
      continue;
    }
    const run = ledger.runs.get(row.id);
    for (let generation = 1; generation <= row.generation; generation += 1)
      if (run?.ends.get(generation) !== 1)
        accuse('INV-08', `Stretch ${generation} of run ${row.id} has ${run?.ends.get(generation) ?? 0} ends.`);
    if (isTaskRun(row)) checkSpend(rest, row);
  }
  for (const process of alive) accuse('INV-13', `${process.spec.command} in ${process.jobDir} is alive after everything has ended.`);
  const chain = reader.verify();
  if (!chain.ok) accuse('INV-15', `The chain breaks at fact ${chain.seq}: ${chain.why}`);
  else if (chain.facts !== ledger.count())
    accuse('INV-15', `The journal holds ${chain.facts} facts, and ${ledger.count()} were committed.`);
};
