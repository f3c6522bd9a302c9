import type { CommitSha } from '../core/ids.ts';
import type { WorkspacePool } from '../workspace/index.ts';

/** How often the daemon looks whether a workspace filled in advance was taken, or the base has moved. */
const lookMs = 30_000;

/**
 * Keeps workspaces filled in advance, in the background and one at a time. A commit that is not worth it is not tried again.
 * @returns ends it, and waits for the filling under way
 */
export const keepWarm = (options: {
  readonly pool: Pick<WorkspacePool, 'warm'>;
  readonly count: number;
  /** The commit that the next run will start from. */
  readonly base: () => Promise<CommitSha>;
  readonly makeRoom: () => Promise<string | undefined>;
  readonly tell: (sentence: string) => void;
}): (() => Promise<void>) => {
  const { pool, count, base, makeRoom, tell } = options;
  let closed = count === 0;
  const isClosed = (): boolean => closed;
  let notWorth: CommitSha | undefined;
  let working: Promise<void> | undefined;
  const fill = async (): Promise<void> => {
    const commit = await base();
    if (commit === notWorth || (await makeRoom()) !== undefined || isClosed()) return;
    // One by one, so that the end of the daemon waits for one.
    let ready = await pool.warm(1, commit);
    if (ready === 0) notWorth = commit;
    while (ready > 0 && ready < count && !isClosed()) ready = await pool.warm(ready + 1, commit);
  };
  const look = (): void => {
    if (closed || working !== undefined) return;
    working = fill()
      .catch((error: unknown) =>
        tell(`A workspace could not be filled in advance: ${error instanceof Error ? error.message : String(error)}`),
      )
      .finally(() => (working = undefined));
  };
  look();
  const timer = closed ? undefined : setInterval(look, lookMs);
  return async () => {
    closed = true;
    clearInterval(timer);
    await working;
  };
};
