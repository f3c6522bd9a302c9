// One engine's life over the memory: from its opening to its end by `dispose` or by a crash.
//
//  1. A write is all or nothing, and refused once the life is over or another engine has taken the memory.
//  2. A write is acknowledged a moment after it was made, so that a crash can fall between the two.
import { Fault } from '../../core/fault.ts';
import { epochMs, type EpochMs } from '../../core/ids.ts';
import { canonicalJson, type ChainLink, factHash, genesisHash } from '../chain.ts';
import type { EngineOptions, Timers } from '../port.ts';
import type { MemoryState } from './state.ts';

export interface MemoryOptions extends Omit<EngineOptions, 'timers'> {
  readonly timers: Timers;
  /** Where a test ends the engine: before a write is made, and between the write and its acknowledgement. */
  readonly beforeCommit?: () => void;
  readonly afterCommit?: () => void;
  /** Whether the storage refuses just now: writes wait, and none is lost. */
  readonly isAway?: () => boolean;
}

/** How soon a write is tried again while the storage is away. */
const awayMs = 20;

export interface Write {
  readonly now: EpochMs;
  /** @param data plain JSON */
  fact(kind: string, run: string, data: unknown): void;
}

export interface Life {
  readonly state: MemoryState;
  readonly options: MemoryOptions;
  readonly epoch: number;
  /** Aborted, with a Fault as its reason, when this engine does nothing more. */
  readonly stopped: AbortSignal;
  stop(reason: Fault): void;
  /** @throws the reason of `stopped` */
  write<T>(work: (write: Write) => T): Promise<T>;
}

/** Appends a fact to the chain. */
export const appendFact = (state: MemoryState, fact: Omit<ChainLink, 'seq' | 'prev'>): void => {
  const last = state.facts.at(-1);
  const link = { ...fact, seq: (last?.seq ?? 0) + 1, prev: last?.hash ?? genesisHash };
  state.facts.push({ ...link, hash: factHash(link) });
};

/** Tells whoever waits for a change. */
export const tellChange = (state: MemoryState): void => {
  for (const listener of state.changed) listener();
};

const fenced = (epoch: number, by: number): Fault =>
  new Fault('ENGINE_FENCED', `The journal in memory was taken over by another engine (epoch ${by}, ours is ${epoch}).`, {
    data: { epoch, by },
  });

export const openLife = (state: MemoryState, options: MemoryOptions): Life => {
  const epoch = state.owner.epoch + 1;
  const stopping = new AbortController();
  state.owner = { epoch, held: true };

  const stop = (reason: Fault): void => stopping.abort(reason);

  const writeNow = <T>(work: (write: Write) => T): T => {
    stopping.signal.throwIfAborted();
    if (state.owner.epoch !== epoch) stop(fenced(epoch, state.owner.epoch));
    stopping.signal.throwIfAborted();
    try {
      options.beforeCommit?.();
    } catch (error) {
      stop(error as Fault);
      throw error;
    }
    const now = epochMs(Math.floor(options.clock()));
    const result = work({ now, fact: (kind, run, data) => appendFact(state, { at: now, kind, run, data: canonicalJson(data) }) });
    tellChange(state);
    try {
      options.afterCommit?.();
    } catch (error) {
      stop(error as Fault);
      throw error;
    }
    return result;
  };

  return {
    state,
    options,
    epoch,
    stopped: stopping.signal,
    stop,
    write: async (work) => {
      while (options.isAway?.() === true && !stopping.signal.aborted) {
        await new Promise<void>((resolve) => options.timers.after(awayMs, resolve));
      }
      const result = writeNow(work);
      await Promise.resolve();
      stopping.signal.throwIfAborted();
      return result;
    },
  };
};
