// Slots bound how many steps of one kind perform at once (an agent, a test run). A step takes all the slots it wants together or none,
// so that two steps never wait for each other. Nobody overtakes a waiting step of the same priority that wants one of the same slots.
import { Fault } from '../core/fault.ts';

type Wanted = Readonly<Record<string, number>>;

export interface SlotRequest {
  readonly wanted: Wanted;
  /** Higher goes first. */
  readonly priority: number;
  /** Gives up waiting; the promise rejects with the reason. */
  readonly signal: AbortSignal;
}

export interface Slots {
  /** @returns what gives the slots back. @throws Fault SLOTS_IMPOSSIBLE when more are wanted than there are */
  acquire(request: SlotRequest): Promise<() => void>;
  /** Takes slots at once, also beyond what there is: for a process that runs already. */
  seize(wanted: Wanted): () => void;
}

interface Waiting extends SlotRequest {
  readonly grant: () => void;
}

/** @param capacity a name that is missing has no limit */
export const createSlots = (capacity: Wanted): Slots => {
  const held = new Map<string, number>();
  const queue: Waiting[] = [];

  const add = (wanted: Wanted, sign: 1 | -1): void => {
    for (const [name, count] of Object.entries(wanted)) held.set(name, (held.get(name) ?? 0) + sign * count);
  };
  const fits = (wanted: Wanted): boolean =>
    Object.entries(wanted).every(([name, count]) => (held.get(name) ?? 0) + count <= (capacity[name] ?? Infinity));

  const serveQueue = (): void => {
    const blocked = new Set<string>();
    for (const waiting of queue.slice()) {
      const names = Object.keys(waiting.wanted);
      if (fits(waiting.wanted) && !names.some((name) => blocked.has(name))) {
        queue.splice(queue.indexOf(waiting), 1);
        add(waiting.wanted, 1);
        waiting.grant();
      } else for (const name of names) blocked.add(name);
    }
  };

  const assertPossible = (wanted: Wanted): void => {
    for (const [name, count] of Object.entries(wanted)) {
      const most = capacity[name] ?? Infinity;
      if (count <= most && count >= 0) continue;
      throw new Fault('SLOTS_IMPOSSIBLE', `A step wants ${count} of the slot ${name}, and there are ${most}.`, {
        hint: 'Raise the number of slots, or let the step want fewer.',
        data: { slot: name, wanted: count, capacity: most },
      });
    }
  };

  const releaseOf = (wanted: Wanted) => {
    let isHeld = true;
    return (): void => {
      if (!isHeld) return;
      isHeld = false;
      add(wanted, -1);
      serveQueue();
    };
  };

  return {
    acquire: async (request) => {
      const { wanted, priority, signal } = request;
      assertPossible(wanted);
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiting: Waiting = { ...request, grant: resolve };
      const giveUp = (): void => {
        const index = queue.indexOf(waiting);
        if (index < 0) return;
        queue.splice(index, 1);
        reject(signal.reason);
        serveQueue();
      };
      const behind = queue.findIndex((other) => other.priority < priority);
      queue.splice(behind < 0 ? queue.length : behind, 0, waiting);
      signal.addEventListener('abort', giveUp, { once: true });
      serveQueue();
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', giveUp);
      }
      return releaseOf(wanted);
    },
    seize: (wanted) => {
      add(wanted, 1);
      return releaseOf(wanted);
    },
  };
};
