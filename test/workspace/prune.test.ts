// Workspaces of ended runs go by themselves when they hold nothing (L7, L13): the real manager, the real journal.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pruneWorkspaces } from '../../src/cli/prune-workspaces.ts';
import { epochMs, runId } from '../../src/core/ids.ts';
import { type Engine, openEngine } from '../../src/journal/index.ts';
import { taskHandler } from '../../src/loop/index.ts';
import { createTestProcessHost } from '../journal/test-process-host.ts';
import { makeRepository, useIsolatedHome } from '../testkit/repositories.ts';
import { setUp } from './setting.ts';

useIsolatedHome();

const later = 11 * 60_000;

const openAt = (stateHome: string): Promise<Engine> =>
  openEngine({ stateHome, processes: createTestProcessHost(), clock: () => epochMs(Date.now()), chance: () => 0 });

test('L7 L13 a daemon removes the folders of ended runs that hold nothing, and no other', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, stateHome, base } = setting;
  await using engine = await openAt(stateHome);
  const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
  const handler = {
    ...taskHandler,
    handle: async (_context: unknown, input: unknown) => {
      if (input === 'open') await gate;
      return { exit: { exit: 'goal-met' }, landed: undefined };
    },
  };
  const folderOf = async (run: string): Promise<string> => (await workspaces.open(run, base)).dir;
  const open = await engine.start(handler, 'open', { id: runId('r-open'), dedupeKey: 'open' });
  for (const name of ['r-empty', 'r-work', 'r-commit', 'r-again'])
    await (
      await engine.start(handler, name, { id: runId(name), dedupeKey: name })
    ).ended;
  const dirs = {
    open: await folderOf('r-open'),
    empty: await folderOf('r-empty'),
    work: await folderOf('r-work'),
    commit: await folderOf('r-commit'),
    again: await folderOf('r-again'),
    unknown: await folderOf('r-unknown'),
  };
  writeFileSync(path.join(dirs.work, 'idea.txt'), 'not landed\n');
  writeFileSync(path.join(dirs.commit, 'idea.txt'), 'committed and not landed\n');
  await workspaces.commit('r-commit', 1, base, 'an attempt');
  const seen = new Set<string>();
  const prune = (now: number) => pruneWorkspaces({ reader: engine.reader, workspaces, stateHome, now, seen });

  expect(await prune(Date.now()), 'what has just ended rests').toEqual([]);

  // Opened again between the look and the removal: asked right before, the journal says so.
  let reopened: Promise<unknown> | undefined;
  const late = {
    release: async (...[run, landed, mayRemove]: Parameters<typeof workspaces.release>) => {
      const ask = (): boolean => mayRemove?.() ?? true;
      if (run !== 'r-again') return workspaces.release(run, landed, ask);
      reopened = engine.reopen(handler, runId('r-again'), 'open');
      await reopened;
      return workspaces.release(run, landed, ask);
    },
  };
  const pruned = await pruneWorkspaces({ reader: engine.reader, workspaces: late, stateHome, now: Date.now() + later, seen });
  expect(reopened).toBeDefined();
  expect(pruned).toEqual(['r-empty']);
  const left = Object.entries(dirs).filter(([, dir]) => existsSync(dir));
  expect(left.map(([name]) => name)).toEqual(['open', 'work', 'commit', 'again', 'unknown']);
  expect(existsSync(path.join(dirs.work, 'idea.txt'))).toBe(true);
  expect(await prune(Date.now() + later), 'a folder that holds work is looked at once').toEqual([]);
  openGate();
  await open.ended;
  expect(await prune(Date.now() + later)).toContain('r-open');
});

test('L7 a workspace whose work has landed goes, and one that went on after its landing stays', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, stateHome, base } = setting;
  await using engine = await openAt(stateHome);
  for (const name of ['r-landed', 'r-went-on']) {
    const { dir } = await workspaces.open(name, base);
    writeFileSync(path.join(dir, 'done.txt'), `by ${name}\n`);
    const { commit } = await workspaces.commit(name, 1, base, 'an attempt');
    if (name === 'r-went-on') writeFileSync(path.join(dir, 'more.txt'), 'after the landing\n');
    const output = { exit: { exit: 'goal-met' }, landed: { landed: 'report', commit } };
    const handler = { ...taskHandler, handle: async () => output };
    await (
      await engine.start(handler, null, { id: runId(name), dedupeKey: name })
    ).ended;
  }
  const now = Date.now() + later;
  expect(await pruneWorkspaces({ reader: engine.reader, workspaces, stateHome, now, seen: new Set() })).toEqual(['r-landed']);
});
