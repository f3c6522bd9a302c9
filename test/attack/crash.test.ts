// Deaths at the one instant that matters most: the refs of a landing are moved, the journal does not know yet.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fix, makeScene, type Scene } from '../testkit/scene.ts';
import { fileAt, gyreBranches, runsOf } from '../field/support.ts';

/** Puts a `git` first on the path that kills the engine right after, or right before, it has moved a branch: once. */
const killAtLanding = (scene: Scene, when: 'before' | 'after'): void => {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const dir = path.join(scene.root, 'bin');
  mkdirSync(dir);
  const input = path.join(dir, 'input');
  const act = when === 'after' ? `'${real}' "$@" < "${input}"; kill -9 $PPID; exit 1` : 'kill -9 $PPID; exit 1';
  writeFileSync(
    path.join(dir, 'git'),
    `#!/bin/sh
case "$*" in *update-ref*--stdin*)
  cat > "${input}"
  if grep -aq ' refs/heads/' "${input}" && [ ! -e "${input}.done" ]; then : > "${input}.done"; ${act}; fi
  exec '${real}' "$@" < "${input}";;
esac
exec '${real}' "$@"
`,
  );
  chmodSync(path.join(dir, 'git'), 0o755);
  scene.env['PATH'] = `${dir}:${scene.env['PATH'] ?? ''}`;
};

const die = async (scene: Scene): Promise<void> => {
  const engine = scene.start('run');
  const signal = await new Promise((resolve) => engine.once('exit', (_code, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
};

test.each(['before', 'after'] as const)(
  'L5 P2 the engine dies right %s its branch is made: the next one lands once, and asks no agent again',
  async (when) => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) });
    killAtLanding(scene, when);
    await die(scene);
    const ran = await scene.gyre('run');
    expect(ran.code, ran.all).toBe(0);
    expect(gyreBranches(scene)).toHaveLength(1);
    expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');
    expect(scene.calls()).toHaveLength(1);
    expect((await runsOf(scene)).map((run) => run.exit?.exit)).toEqual(['goal-met']);
  },
);

test('L5 P2 MRG-03 the engine dies right after a merge onto a target that had moved: one landing on it, nothing of the others lost', async () => {
  await using scene = await makeScene();
  scene.git('branch', 'release');
  const colleague = 'git update-ref refs/heads/release $(git commit-tree -p release -m colleague release^{tree})';
  await scene.loop({ agent: scene.agent([[fix, { sh: colleague }]]), land: { as: 'merge', target: 'release' } });
  killAtLanding(scene, 'after');
  await die(scene);
  const ran = await scene.gyre('run');
  expect(ran.code, ran.all).toBe(0);
  expect(scene.git('log', '--format=%s', 'main..release').split('\n')).toEqual([expect.any(String), 'colleague']);
  expect(fileAt(scene, 'release', 'calc.mjs')).toContain('a + b');
  expect(scene.calls()).toHaveLength(1);
});
