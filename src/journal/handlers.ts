import type { LoopHandler, RunRow } from './port.ts';

/** The handlers this engine was given, by name and version; the last one given counts. */
export interface Handlers {
  add(handler: LoopHandler): void;
  find(run: Pick<RunRow, 'loop' | 'version'>): LoopHandler | undefined;
  /** Versions of a loop, lowest first; empty for an unknown loop. */
  versions(loop: string): readonly number[];
}

export const createHandlers = (): Handlers => {
  const byName = new Map<string, Map<number, LoopHandler>>();
  return {
    add: (handler) => {
      const versions = byName.get(handler.name) ?? new Map<number, LoopHandler>();
      versions.set(handler.version, handler);
      byName.set(handler.name, versions);
    },
    find: ({ loop, version }) => byName.get(loop)?.get(version),
    versions: (loop) => [...(byName.get(loop)?.keys() ?? [])].sort((a, b) => a - b),
  };
};
