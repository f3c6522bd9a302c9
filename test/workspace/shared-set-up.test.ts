import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fileAt, gyreBranches } from '../field/support.ts';
import { fix, makeScene, seedFiles } from '../testkit/scene.ts';

test('DEP-10 set-up runs once for a lock file, over checks, attempts and engines, and no attempt sees what another did to its folders', async () => {
  const files = {
    ...seedFiles,
    '.gitignore': 'node_modules\n',
    'package-lock.json': '{}\n',
    check: seedFiles.check.replace('#!/bin/sh\n', '#!/bin/sh\ngrep -qx good node_modules/dep || { echo "0 passed, 9 failed"; exit 1; }\n'),
  };
  await using scene = await makeScene({ files });
  const log = path.join(scene.env['HOME'] ?? '', 'set-ups');
  const times = (): number => readFileSync(log, 'utf8').split('\n').length - 1;
  const evil = { sh: 'chmod -R u+w node_modules; echo evil > node_modules/dep; echo evil > node_modules/new' };
  await scene.loop({
    agent: scene.agent([[evil, { append: 'calc.mjs', text: '// a thought\n' }], [fix]]),
    workspace: { setup: 'mkdir -p node_modules && echo good > node_modules/dep && pwd >> "$HOME/set-ups"', share: ['node_modules'] },
  });
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(0);
  expect(scene.calls()).toHaveLength(2);
  // One in a clean room, whose PATH may differ from that of a workspace, and at most one in the workspace.
  const first = times();
  expect(first).toBeLessThanOrEqual(2);
  expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');

  // Another engine, another task, on a base where nothing of a baseline is known: what was kept is proven by the journal.
  writeFileSync(path.join(scene.repo, 'README.md'), '# Changed\n');
  scene.git('commit', '-qam', 'other base');
  scene.settle();
  const looked = await scene.gyre('run');
  expect(looked.code, looked.all).toBe(0);
  expect(times()).toBe(first);
}, 120_000);
