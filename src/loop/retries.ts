// What surrounds a task is tried again in its own time: a provider that did not serve, a machine that was out of order. The task itself is
// tried again by its attempts alone.
import type { EpochMs } from '../core/ids.ts';
import { classifyFailure, nextTry, type TriesByClass, type Wake } from '../dispatch/index.ts';
import type { RunRow } from '../journal/index.ts';
import type { LoopParts } from './port.ts';
import { attemptsOf, outputOf } from './run-record.ts';
import { parkedRegister, triesRegister } from './registers.ts';

/** Value of register `parked`. */
export interface Parked {
  readonly wake: Wake;
  /** Of the run when it was parked: an entry of an earlier stretch wakes nothing. */
  readonly generation: number;
}

/** What a run's end means for the next try of its task: written once, before anybody is told of the end. */
export const noteEnd = async (parts: Pick<LoopParts, 'engine' | 'reader' | 'clock' | 'chance'>, row: RunRow): Promise<void> => {
  // A tick that was cut off behind this note comes here again with the same end, which counts once.
  if (parkedOf(parts.reader, row) !== undefined) return;
  const output = outputOf(row);
  const known = parts.reader.registerEntry(triesRegister, row.dedupeKey);
  const failure = classifyFailure({ exit: output.exit, attempts: attemptsOf(row) });
  const isOfSurroundings = output.again === 'next-tick' || output.exit.exit === 'fault';
  if (failure === undefined || !isOfSurroundings) {
    if (known !== undefined) await parts.engine.put([{ register: triesRegister, key: row.dedupeKey, value: undefined }]);
    return;
  }
  const tries = (known?.value ?? {}) as TriesByClass;
  const next = nextTry(failure, { tries, now: parts.clock(), draw: parts.chance() });
  if (next.next === 'person') return;
  const parked: Parked = { wake: output.wake ?? { on: 'time', at: next.at }, generation: row.generation };
  await parts.engine.put([
    { register: parkedRegister, key: row.id, value: parked },
    { register: triesRegister, key: row.dedupeKey, value: next.tries },
  ]);
};

/** What an ended run waits for, where it goes on by itself. */
export const parkedOf = (reader: Pick<LoopParts['reader'], 'registerEntry'>, row: RunRow): Wake | undefined => {
  const parked = reader.registerEntry(parkedRegister, row.id)?.value as Parked | undefined;
  return parked?.generation === row.generation ? parked.wake : undefined;
};

/** Until when each provider has said that it does not serve: one refusal holds back all who would ask it. */
export const quotasOf = (reader: Pick<LoopParts['reader'], 'register'>, now: EpochMs): Readonly<Record<string, EpochMs>> => {
  const until: Record<string, EpochMs> = {};
  for (const { value } of reader.register(parkedRegister)) {
    const { wake } = value as Parked;
    if (wake.on === 'quota' && wake.at > now && wake.at > (until[wake.provider] ?? 0)) until[wake.provider] = wake.at;
  }
  return until;
};
