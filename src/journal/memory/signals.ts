import { type EpochMs, epochMs } from '../../core/ids.ts';
import type { SignalReceipt, SignalRequest } from '../port.ts';
import type { Life } from './life.ts';
import { fromText, toText } from './payload.ts';
import { isEnded } from './rows.ts';
import type { MemoryState } from './state.ts';

/** Puts a signal at the end of its line. Part of a write, or of the request of another process. */
export const storeSignal = (state: MemoryState, asked: SignalRequest & { readonly at: number }): SignalReceipt => {
  const { run, name, dedupeKey, by = '' } = asked;
  const target = state.runs.get(run);
  if (run !== '' && (target === undefined || isEnded(target))) return { accepted: false, duplicate: false };
  const isKnown = state.signals.some(
    (signal) => dedupeKey !== undefined && signal.run === run && signal.name === name && signal.dedupeKey === dedupeKey,
  );
  if (isKnown) return { accepted: true, duplicate: true };
  const payload = toText(asked.payload, `The signal ${name}`);
  const seq = (state.signals.at(-1)?.seq ?? 0) + 1;
  state.signals.push({ seq, run, name, payload, dedupeKey, by, at: epochMs(asked.at), takenBy: undefined });
  return { accepted: true, duplicate: false };
};

/** Takes the signals of the engine itself. */
export const takeEngineSignals = (
  life: Life,
  name: string,
): Promise<readonly { readonly payload: unknown; readonly by: string; readonly at: EpochMs }[]> =>
  life.write(() => {
    const taken = life.state.signals.filter((signal) => signal.run === '' && signal.name === name && signal.takenBy === undefined);
    for (const signal of taken) life.state.signals[life.state.signals.indexOf(signal)] = { ...signal, takenBy: 'engine' };
    return taken.map(({ payload, by, at }) => ({ payload: fromText(payload), by, at }));
  });
