import { createWorkspaces, diskUse, totalBytes, type WorkspaceInfo } from '../../workspace/index.ts';
import { epochMs } from '../../core/ids.ts';
import { Rejection } from '../../core/fault.ts';
import { inputOf } from '../../loop/read.ts';
import { type JournalReader, openStates } from '../../journal/index.ts';
import { oneLine } from '../../core/text.ts';
import { settingsAt } from '../loop-choice.ts';
import { readJournal } from '../place.ts';
import { line, printJson, table } from '../print.ts';

export const workspaces = async (options: {
  readonly prune?: boolean;
  readonly free?: readonly string[];
  readonly json?: boolean;
}): Promise<void> => {
  const { place, reader } = await readJournal();
  const manager = createWorkspaces({ repository: place.repository, stateHome: place.stateHome, clock: () => epochMs(Date.now()) });
  const alive = reader?.owner()?.alive === true;
  const live = alive ? (reader?.runs({ states: openStates }) ?? []).map((run) => run.id) : [];
  const before = await manager.list(live);
  const freed: { run: string; savedAs: string | undefined }[] = [];
  for (const name of options.free ?? []) {
    const one = before.filter((workspace) => workspace.run === name || workspace.run.startsWith(name));
    const [workspace] = one;
    if (workspace === undefined || one.length > 1)
      throw new Rejection(`${one.length === 0 ? 'No' : `${one.length}`} workspaces match ${name}; nothing more was removed.`, {
        hint: '`gyre workspaces` lists them.',
      });
    if (workspace.holds.includes('live-run'))
      throw new Rejection(`Run ${workspace.run} is at work there. Stop it first: gyre stop ${workspace.run}`);
    freed.push({ run: workspace.run, ...(await manager.free(workspace.run)) });
  }
  const pruned: string[] = [];
  if (options.prune === true)
    for (const workspace of before)
      if (workspace.holds.length === 0 && !freed.some((done) => done.run === workspace.run)) {
        const against = await manager.release(workspace.run, []);
        if (against.length === 0) pruned.push(workspace.run);
      }
  const left = await manager.list(live);
  const use = await diskUse(place.stateHome);
  // A gyre.yaml with a mistake must not keep a person from freeing a folder.
  const limit = await settingsAt(place).then(
    (settings) => settings.workspace.diskBytes,
    () => undefined,
  );
  if (options.json === true) {
    printJson({ workspaces: left, freed, pruned, disk: { ...use, limit } });
    return;
  }
  for (const { run, savedAs } of freed)
    line(
      savedAs === undefined
        ? `Removed the workspace of ${run} (it held no work).`
        : `Removed the workspace of ${run} after saving its work as ${savedAs}`,
    );
  for (const run of pruned) line(`Removed the workspace of ${run} (nothing unlanded in it).`);
  if (left.length === 0) line('No workspace is kept.');
  else listed(left, reader);
  const { pool, deps } = use;
  if (pool > 0) line(`Folders for the next runs (pool): ${megabytes(pool)}`);
  if (deps > 0) line(`Kept dependency folders (deps): ${megabytes(deps)}`);
  line(`All together: ${megabytes(totalBytes(use))}${limit === undefined ? '' : ` of ${megabytes(limit)} (workspace.disk)`}.`);
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const listed = (left: readonly WorkspaceInfo[], reader: JournalReader | undefined): void => {
  const rows = left.map(({ run, dir, holds, bytes }) => {
    const row = reader?.run(run);
    const title = row === undefined ? 'unknown run' : oneLine(inputOf(row).task.title, 50);
    return [run, megabytes(bytes), holds.length === 0 ? 'nothing unlanded' : holds.join(', '), title, dir];
  });
  for (const row of table([['RUN', 'SIZE', 'HOLDS', 'TASK', 'FOLDER'], ...rows])) line(row);
};
