import { selfIdentity } from '../../process/index.ts';
import { epochMs } from '../../core/ids.ts';
import { factLine, genesisHash, verifyChain } from '../chain.ts';
import type { JournalReader, RegisterEntry, RunFilter, RunState } from '../port.ts';
import { fromText } from './payload.ts';
import { rowOf } from './rows.ts';
import type { MemoryState } from './state.ts';

const runStates: readonly RunState[] = ['pending', 'running', 'paused', 'needs-attention', 'done', 'failed', 'cancelled'];

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

type RegisterFilter = NonNullable<Parameters<JournalReader['register']>[1]>;

const entriesOf = (state: MemoryState, register: string, filter: RegisterFilter): readonly RegisterEntry[] => {
  const { prefix = '', after, limit = Infinity, newestFirst = false } = filter;
  const all = [...(state.registers.get(register)?.values() ?? [])].sort((a, b) => byText(a.key, b.key));
  const ordered = newestFirst ? all.toSorted((a, b) => b.changedAt - a.changedAt) : all;
  return ordered.filter(({ key }) => key.startsWith(prefix) && (after === undefined || key > after)).slice(0, limit);
};

const runsOf = (state: MemoryState, { states, dedupeKey }: RunFilter = {}) =>
  [...state.runs.values()]
    .filter(({ row }) => (states?.includes(row.state) ?? true) && (dedupeKey === undefined || row.dedupeKey === dedupeKey))
    .sort((a, b) => a.row.startedAt - b.row.startedAt || byText(a.row.id, b.row.id));

export const createMemoryReader = (state: MemoryState): JournalReader => ({
  runs: (filter) => runsOf(state, filter).map((run) => rowOf(state, run)),
  count: (filter) => runsOf(state, filter).length,
  run: (id) => {
    const run = state.runs.get(id);
    return run === undefined ? undefined : rowOf(state, run);
  },
  facts: ({ run, afterSeq = 0, limit = 10_000 } = {}) =>
    state.facts
      .filter((fact) => fact.seq > afterSeq && (run === undefined || fact.run === run))
      .slice(0, limit)
      .map(({ seq, at, kind, run: of, data, hash }) => ({ seq, at: epochMs(at), kind, run: of, data: JSON.parse(data) as unknown, hash })),
  owner: () => (state.owner.held ? { identity: selfIdentity(), epoch: state.owner.epoch, alive: true } : undefined),
  verify: () => verifyChain(state.facts, state.facts.at(-1) ?? { seq: 0, hash: genesisHash }),
  exportLines: () => state.facts.map((fact) => factLine(fact, fact.hash)),
  registerEntry: (register, key) => structuredClone(state.registers.get(register)?.get(key)),
  register: (register, filter = {}) => structuredClone(entriesOf(state, register, filter)),
  stream: (run, stream, afterSeq = 0) =>
    state.streams
      .filter((event) => event.run === run && event.stream === stream && event.seq > afterSeq)
      .map(({ seq, at, event }) => structuredClone({ seq, at, event })),
  streamNews: (afterSeq) => {
    if (afterSeq === undefined) return { newest: state.streams.at(-1)?.seq ?? 0, runs: [] };
    const news = state.streams.filter((event) => event.seq > afterSeq).slice(0, 10_000);
    return { newest: news.at(-1)?.seq ?? afterSeq, runs: [...new Set(news.map((event) => event.run))] };
  },
  signals: (run) =>
    state.signals
      .filter((signal) => signal.run === run)
      .map(({ seq, name, payload, by, at, takenBy }) => ({ seq, name, payload: fromText(payload), by, at, takenBy })),
  health: () => {
    const runs = Object.fromEntries(runStates.map((one) => [one, 0])) as Record<RunState, number>;
    for (const { row } of state.runs.values()) runs[row.state] += 1;
    return { schema: 0, facts: state.facts.length, runs };
  },
  [Symbol.dispose]: () => {},
});
