import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { fix, makeScene, seedFiles } from '../testkit/scene.ts';
import { changedIn, fileAt, gyreBranches, lastRun, runsOf } from './support.ts';

describe('field reports: repository shapes and git settings', () => {
  test('GIT-01 a default branch of another name is base and target', async () => {
    await using scene = await makeScene({ branch: 'trunk' });
    await scene.loop({ agent: scene.agent([[fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.git('rev-parse', `${gyreBranches(scene)[0] ?? ''}^`)).toBe(scene.git('rev-parse', 'trunk'));
    expect(ran.all).not.toMatch(/\bmain\b/);
  });

  test('GIT-03 a repository without a commit is refused before anything is called', async () => {
    await using scene = await makeScene({ checkoutStays: false });
    const empty = path.join(scene.root, 'empty');
    mkdirSync(path.join(empty, '.gyre', 'loops'), { recursive: true });
    execFileSync('git', ['init', '--quiet', empty], { env: scene.env });
    execFileSync('cp', [path.join(scene.repo, 'check'), empty]);
    const ran = await scene.gyreIn(empty, 'goal', 'create a README', '--check', 'test -f README', '--agent-command', scene.agent([[fix]]));
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/no commit/i);
    expect(scene.calls()).toHaveLength(0);
  });

  test('GIT-05 a branch name that is checked out elsewhere is left alone and another one is used', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix], [fix]], 'repeat') });
    expect((await scene.gyre('run')).code).toBe(0);
    const [first = ''] = gyreBranches(scene);
    // A person checks the delivered branch out, edits there, and its run's record is forgotten on the branch itself.
    const other = path.join(scene.root, 'other');
    scene.git('worktree', 'add', '--quiet', other, first);
    writeFileSync(path.join(other, 'calc.mjs'), 'edited by a person\n');
    const tip = scene.git('rev-parse', first);
    await scene.loop({ agent: scene.agent([[fix], [fix]], 'repeat'), land: { as: 'branch' }, goal: 'Again' });
    writeFileSync(path.join(scene.repo, '.gyre', 'loops', 'fix2.md'), readFileSync(path.join(scene.repo, '.gyre', 'loops', 'fix.md')));
    scene.git('branch', 'gyre/fix2/taken');
    scene.settle();
    const ran = await scene.gyre('run', 'fix2');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.git('rev-parse', first)).toBe(tip);
    expect(readFileSync(path.join(other, 'calc.mjs'), 'utf8')).toBe('edited by a person\n');
    expect(new Set(gyreBranches(scene)).size).toBe(gyreBranches(scene).length);
    scene.git('worktree', 'remove', '--force', other);
  });

  const withSubmodule = async () => {
    const scene = await makeScene({
      files: {
        ...seedFiles,
        check: seedFiles.check.replace('exec node', 'test -f lib/needed.txt || { echo "lib/needed.txt is missing"; exit 1; }\nexec node'),
      },
    });
    const library = path.join(scene.root, 'library');
    execFileSync(
      'sh',
      ['-c', `git init -q "${library}" && cd "${library}" && echo needed > needed.txt && git add -A && git commit -qm library`],
      { env: scene.env },
    );
    scene.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
    scene.git('commit', '--quiet', '--all', '--message', 'with a submodule');
    return scene;
  };

  test('GIT-07 submodules are filled for agent and check, and the tree goes away afterwards', async () => {
    await using scene = await withSubmodule();
    await scene.loop({ agent: scene.agent([[fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(scene.git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(scene.git('submodule', 'status')).toMatch(/^[0-9a-f]{40} lib/);
  });

  test('GIT-07 a change left inside a submodule is reported and not lost', async () => {
    await using scene = await withSubmodule();
    await scene.loop({ agent: scene.agent([[fix, { append: 'lib/needed.txt', text: 'changed by the agent\n' }]]) });
    const ran = await scene.gyre('run');
    const { run } = await lastRun(scene);
    const { workspaces } = await scene.json<{ workspaces: readonly { run: string; dir: string; holds: readonly string[] }[] }>(
      'workspaces',
    );
    expect(workspaces[0]?.holds, ran.all).toContain('submodule-changes');
    expect(readFileSync(path.join(workspaces[0]?.dir ?? '', 'lib/needed.txt'), 'utf8')).toContain('changed by the agent');
    expect((await scene.gyre('show', run)).stdout).toMatch(/submodule/i);
    expect((await scene.json<{ freed: readonly unknown[] }>('workspaces', '--free', run)).freed).toHaveLength(1);
  });

  test('GIT-09 a signing program that never answers ends in time, with the reason and the work kept', async () => {
    await using scene = await makeScene();
    const gpg = path.join(scene.root, 'slow-gpg');
    writeFileSync(gpg, '#!/bin/sh\nsleep 600\n');
    chmodSync(gpg, 0o755);
    scene.git('config', 'commit.gpgsign', 'true');
    scene.git('config', 'gpg.program', gpg);
    await scene.loop({ agent: scene.agent([[fix]]) });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(3);
    expect((await lastRun(scene)).exit?.why).toMatch(/signing/i);
    expect(gyreBranches(scene)).toEqual([]);
    expect(execFileSync('find', [path.join(scene.repo, '.git'), '-name', '*.lock'], { encoding: 'utf8' })).toBe('');
    expect(scene.git('for-each-ref', 'refs/gyre')).not.toBe('');
  });

  test('GIT-11 odd file names are seen exactly: the protected-path guard fires on all of them', async () => {
    await using scene = await makeScene({ files: { ...seedFiles, 'a.txt': 'a\n' } });
    const names = ['docs/naïve file.md', 'docs/a -> b.txt', 'docs/"quoted".md', 'docs/line\nbreak.md'];
    const make = `mkdir -p docs && git mv a.txt 'docs/a -> b.txt' && touch 'docs/naïve file.md' 'docs/"quoted".md' "$(printf 'docs/line\\nbreak.md')"`;
    await scene.loop({ agent: scene.agent([[fix, { sh: make }]], 'repeat'), protect: ['docs/**'], stop: { attempts: 1 } });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).not.toBe(0);
    const { run } = await lastRun(scene);
    const shown = await scene.json<{ evidence: readonly { guards: readonly { guard: string; paths: readonly string[] }[] }[] }>(
      'show',
      run,
      '--evidence',
    );
    const fired = shown.evidence[0]?.guards.filter(({ guard }) => guard === 'protected-file').flatMap(({ paths }) => paths);
    expect(fired?.toSorted()).toEqual(names.toSorted());

    await scene.loop({ agent: scene.agent([[fix, { sh: make }]], 'repeat'), protect: [] });
    const open = await scene.gyre('retry', run, '--attempts', '2');
    expect(open.code, open.all).toBe(0);
    expect(changedIn(scene, gyreBranches(scene)[0] ?? '')).toEqual(['a.txt', 'calc.mjs', ...names].toSorted());
  });

  test('GIT-13 titles of every kind give valid, short, distinct branches, and none is read as an option', async () => {
    const titles = ['x'.repeat(300), '🙂🙂🙂', '-rf --force', 'a..b', 'x.lock', 'Same Title', 'same title'];
    const list = titles.map((title, n) => `- [ ] ${title}\n  check: test -f item${n}\n`).join('');
    await using scene = await makeScene({ files: { 'TODO.md': list, 'README.md': 'x\n' } });
    await scene.loop({
      discover: [{ tasks: 'TODO.md' }],
      verify: [{ run: 'test -f README.md' }],
      agent: scene.agent([[{ sh: 'touch item0 item1 item2 item3 item4 item5 item6' }]], 'repeat'),
    });
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    const branches = gyreBranches(scene);
    expect(branches).toHaveLength(7);
    expect(new Set(branches.map((branch) => branch.toLowerCase())).size).toBe(7);
    for (const branch of branches) expect(Buffer.byteLength(branch)).toBeLessThanOrEqual(100);
    expect((await runsOf(scene)).map((run) => run.title).join(' ')).toContain('-rf --force');
  });

  test.each([
    ['switches to a branch of its own', 'git switch -qc other'],
    ['detaches', 'git checkout -q --detach'],
  ])('GIT-15 the commit of an agent that %s is found and brought in', async (_what, command) => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sh: command }, fix, { sh: 'git commit -qam "my own fix"' }]]) });
    const main = scene.git('rev-parse', 'main');
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');
    expect(scene.git('rev-parse', 'main')).toBe(main);
  });

  test('GIT-17 started in a package of a monorepo, the check runs there and changes there count', async () => {
    const inPackage = (name: string) => Object.fromEntries(Object.entries(seedFiles).map(([file, text]) => [`pkg/${name}/${file}`, text]));
    await using scene = await makeScene({ files: { ...inPackage('a'), ...inPackage('b') } });
    const dir = path.join(scene.repo, 'pkg', 'a');
    scene.settle();
    const ran = await scene.gyreIn(dir, 'goal', 'add adds', '--check', './check', '--agent-command', scene.agent([[fix]]));
    expect(ran.code, ran.all).toBe(0);
    expect(scene.calls()[0]?.cwd?.endsWith(path.join('pkg', 'a'))).toBe(true);
    expect(changedIn(scene, gyreBranches(scene)[0] ?? '')).toEqual(['pkg/a/calc.mjs']);
  });

  test('GIT-17 a folder that is no repository but holds two is refused, with their names', async () => {
    await using scene = await makeScene({ checkoutStays: false });
    const above = path.join(scene.root, 'above');
    for (const name of ['one', 'two']) execFileSync('git', ['init', '--quiet', path.join(above, name)], { env: scene.env });
    const ran = await scene.gyreIn(above, 'run');
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/one/);
    expect(ran.stderr).toMatch(/two/);
    expect(existsSync(path.join(above, '.git'))).toBe(false);
  });
});
