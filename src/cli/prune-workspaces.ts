// The daemon does by itself what a person does with `gyre workspaces --prune`, for runs that have ended.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { CommitSha } from '../core/ids.ts';
import type { JournalReader, RunRow } from '../journal/index.ts';
import { isTaskRun, outputOf } from '../loop/read.ts';
import type { WorkspaceManager } from '../workspace/index.ts';

/** A run that has just ended is often gone on with, and would only make its folder anew. */
const restMs = 10 * 60_000;

const landedOf = (row: RunRow): readonly CommitSha[] => {
  const { landed } = outputOf(row);
  return landed === undefined || landed.landed === 'no' ? [] : [landed.commit];
};

export interface PruneRequest {
  readonly reader: Pick<JournalReader, 'run'>;
  readonly workspaces: Pick<WorkspaceManager, 'release'>;
  /** Absolute. */
  readonly stateHome: string;
  readonly now: number;
  /** What was looked at before, by run and generation: a folder that holds work is not read again each time. */
  readonly seen: Set<string>;
}

/**
 * Removes the workspaces of ended runs that hold nothing unlanded (L7). A run that is opened again meanwhile keeps its folder.
 * @returns the runs whose folders went
 */
export const pruneWorkspaces = async ({ reader, workspaces, stateHome, now, seen }: PruneRequest): Promise<readonly string[]> => {
  const pruned: string[] = [];
  for (const name of await readdir(path.join(stateHome, 'worktrees')).catch((): string[] => [])) {
    const row = reader.run(name);
    if (row === undefined || !isTaskRun(row) || row.endedAt === undefined || row.endedAt > now - restMs) continue;
    const stretch = `${name}@${row.generation}`;
    if (seen.has(stretch)) continue;
    seen.add(stretch);
    const hasStayedEnded = (): boolean => {
      const current = reader.run(name);
      return current?.endedAt !== undefined && current.generation === row.generation;
    };
    // A folder that cannot be looked into stays, and hinders no other.
    const holds = await workspaces.release(name, landedOf(row), hasStayedEnded).catch(() => undefined);
    if (holds?.length === 0) pruned.push(name);
  }
  return pruned;
};
