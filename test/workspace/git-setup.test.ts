import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { gitSetupChanges, readGitSetup } from '../../src/workspace/index.ts';
import { git, makeRepository, useIsolatedHome, write } from '../testkit/repositories.ts';
import { setUp } from './setting.ts';

useIsolatedHome();

test('L6 filters, hooks, attributes, included settings and replaced objects that appear are seen; branches and new remotes are not', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, repository } = setting;
  const before = await readGitSetup(repository);
  git(seed.dir, 'remote', 'add', 'other', seed.home);
  git(seed.dir, 'config', 'branch.main.remote', 'other');
  expect(gitSetupChanges(before, await readGitSetup(repository))).toEqual([]);

  mkdirSync(path.join(repository.commonDir, 'hooks'), { recursive: true });
  mkdirSync(path.join(repository.commonDir, 'info'), { recursive: true });
  write(repository.commonDir, {
    evil: '[core]\n\tfsmonitor = ./x\n',
    'hooks/post-checkout': '#!/bin/sh\n',
    'info/attributes': '* filter=x\n',
  });
  git(seed.dir, 'config', 'filter.x.smudge', 'cat');
  git(seed.dir, 'config', 'include.path', 'evil');
  git(seed.dir, 'replace', 'HEAD', git(seed.dir, 'commit-tree', '-m', 'other', 'HEAD^{tree}'));
  setting.checkpoint();
  expect(gitSetupChanges(before, await readGitSetup(repository))).toEqual([
    'hooks/post-checkout',
    'info/attributes',
    expect.stringMatching(/^refs\/replace\//),
    'setting core.fsmonitor',
    'setting filter.x.smudge',
    'setting include.path',
  ]);
});
