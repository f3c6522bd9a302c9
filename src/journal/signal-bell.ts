/** Wakes the waits of a run when a signal may have come for it. */
export interface SignalBell {
  /** `rung` aborts at the next ring; `close` when it is not needed any more. */
  listen(run: string): { readonly rung: AbortSignal; close(): void };
  ring(run: string): void;
}

export const createSignalBell = (): SignalBell => {
  const listeners = new Map<string, Set<AbortController>>();
  return {
    listen: (run) => {
      const controller = new AbortController();
      const set = listeners.get(run) ?? new Set();
      set.add(controller);
      listeners.set(run, set);
      return {
        rung: controller.signal,
        close: () => {
          set.delete(controller);
          if (set.size === 0 && listeners.get(run) === set) listeners.delete(run);
        },
      };
    },
    ring: (run) => {
      for (const controller of listeners.get(run) ?? []) controller.abort();
    },
  };
};
