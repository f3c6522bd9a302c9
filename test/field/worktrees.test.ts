import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { fix, makeScene, seedFiles, waitFor } from '../testkit/scene.ts';
import { changedIn, fileAt, gyreBranches, lastRun, runsOf } from './support.ts';

interface Workspaces {
  readonly workspaces: readonly { readonly run: string; readonly dir: string; readonly holds: readonly string[] }[];
  readonly freed: readonly { readonly run: string; readonly savedAs?: string }[];
  readonly pruned: readonly string[];
}

describe('field reports: worktrees and the work in them', () => {
  test('WTR-01 a fix that was never committed is checked, landed and not lost', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const [branch] = gyreBranches(scene);
    expect(fileAt(scene, branch ?? '', 'calc.mjs')).toContain('a + b');
    expect(changedIn(scene, branch ?? '')).toEqual(['calc.mjs']);
    expect((await scene.json<Workspaces>('workspaces')).workspaces).toEqual([]);
  });

  test('WTR-03 commits of an attempt that crashed stay reachable by name, also after a clean-up', async () => {
    await using scene = await makeScene();
    const half = [
      { append: 'calc.mjs', text: '// half of the work\n' },
      { sh: 'git add -A && git commit -qm half && git rev-parse HEAD > ../../half-commit' },
      { exit: 7 },
    ];
    await scene.loop({ agent: scene.agent([half, []]), stop: { attempts: 2, 'no-progress': 9 } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).not.toBe(0);
    await scene.gyre('workspaces', '--prune');
    const named = scene.git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/gyre');
    const halves = named.split('\n').filter((line) => {
      const [commit = ''] = line.split(' ');
      return scene.git('log', '--format=%s', commit).split('\n').includes('half');
    });
    expect(halves.length).toBeGreaterThan(0);
    expect((await lastRun(scene)).exit?.exit).not.toBe('goal-met');
  });

  test('WTR-05 a linked dependency folder is not committed, and removing the workspace leaves the real one full', async () => {
    await using scene = await makeScene();
    const real = path.join(scene.repo, 'node_modules');
    mkdirSync(real);
    for (const name of ['a', 'b', 'c']) writeFileSync(path.join(real, name), name);
    await scene.loop({ agent: scene.agent([[{ sh: `ln -s '${real}' node_modules` }, fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(readdirSync(real).toSorted()).toEqual(['a', 'b', 'c']);
    expect(changedIn(scene, gyreBranches(scene)[0] ?? '')).toEqual(['calc.mjs']);
    expect((await scene.json<Workspaces>('workspaces')).workspaces).toEqual([]);
  });

  test('WTR-07 a workspace that vanished is said so, nothing runs elsewhere, and a retry builds it again', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ append: 'calc.mjs', text: '// gone\n' }, { sh: 'rm -rf "$PWD"' }], [fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(3);
    const { run, exit } = await lastRun(scene);
    expect(exit?.why).toMatch(/workspace|worktree/i);
    expect(exit?.why).toMatch(/missing|gone/i);
    const again = await scene.gyre('retry', run);
    expect(again.code, again.all).toBe(0);
    expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');
  });

  test('WTR-09 L7 prune keeps what holds unlanded work; removing it by name saves the work first', async () => {
    await using scene = await makeScene();
    await scene.loop({
      agent: scene.agent([[{ append: 'calc.mjs', text: '// an idea worth keeping\n' }]], 'repeat'),
      stop: { attempts: 1 },
    });
    expect((await scene.gyre('run')).code).toBe(4);
    const { run } = await lastRun(scene);
    const pruned = await scene.json<Workspaces>('workspaces', '--prune');
    expect(pruned.pruned).toEqual([]);
    expect(pruned.workspaces.map((workspace) => workspace.run)).toEqual([run]);
    expect(pruned.workspaces[0]?.holds.length).toBeGreaterThan(0);
    const freed = await scene.json<Workspaces>('workspaces', '--free', run);
    expect(freed.workspaces).toEqual([]);
    expect(fileAt(scene, freed.freed[0]?.savedAs ?? 'none', 'calc.mjs')).toContain('an idea worth keeping');
    expect(scene.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('WTR-11 a held config lock delays six starting items and breaks none', async () => {
    const items = [1, 2, 3, 4, 5, 6];
    const list = items.map((n) => `- [ ] Item ${n}\n  check: test -f item${n}\n`).join('');
    await using scene = await makeScene({ files: { 'TODO.md': list, 'README.md': 'x\n' } });
    await scene.loop({
      discover: [{ tasks: 'TODO.md' }],
      verify: [{ run: 'test -f README.md' }],
      agent: { use: 'command', command: `n=$(sed -n 's/.*Item \\([0-9]\\).*/\\1/p' | head -1); touch "item$n"` },
      parallel: 6,
    });
    const lock = path.join(scene.repo, '.git', 'config.lock');
    const engine = scene.start('run');
    writeFileSync(lock, '');
    setTimeout(() => rmSync(lock, { force: true }), 3_000);
    const code = await new Promise((resolve) => engine.once('exit', resolve));
    await waitFor('the lock is gone', () => !existsSync(lock));
    expect(code).toBe(0);
    expect((await runsOf(scene)).map((run) => run.exit?.exit)).toEqual(items.map(() => 'goal-met'));
    expect(gyreBranches(scene)).toHaveLength(6);
    expect(scene.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  test("WTR-13 a person's staged, unstaged, untracked and stashed work on a branch of their own stays as it is", async () => {
    await using scene = await makeScene({ files: { ...seedFiles, 'notes.md': 'one\n' } });
    scene.git('switch', '--quiet', '--create', 'feature');
    writeFileSync(path.join(scene.repo, 'notes.md'), 'stashed\n');
    scene.git('stash', 'push', '--quiet');
    writeFileSync(path.join(scene.repo, 'README.md'), 'staged\n');
    scene.git('add', 'README.md');
    writeFileSync(path.join(scene.repo, 'notes.md'), 'unstaged\n');
    writeFileSync(path.join(scene.repo, 'untracked.txt'), 'untracked\n');
    await scene.loop({ agent: scene.agent([[{ append: 'calc.mjs', text: '// no\n' }], [fix]]), land: { as: 'merge', target: 'main' } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    await scene.gyre('workspaces', '--prune');
    expect(scene.git('stash', 'list').split('\n')).toHaveLength(1);
    expect(fileAt(scene, 'main', 'calc.mjs')).toContain('a + b');
    // The base was the configured target, not the dirty state of the checkout.
    expect(fileAt(scene, 'main', 'README.md')).toBe(seedFiles['README.md']);
  });
});
