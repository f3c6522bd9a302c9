import { expect, test } from 'vitest';
import { cutGit } from '../testkit/cut-git.ts';
import { git, makeRepository, rightSum, useIsolatedHome, wrongSum } from '../testkit/repositories.ts';
import { setUpLanding } from './setting.ts';

useIsolatedHome();

const onOtherBranch = () => {
  const seed = makeRepository();
  git(seed.dir, 'switch', '-q', '-c', 'feature');
  return seed;
};

/** More refs than any landing moves: the last rounds are not cut and show that the cuts went through all of them. */
const rounds = 6;

for (const as of ['merge', 'branch', 'report', 'patch'] as const)
  test(`P2 L5 a landing as ${as} that is cut between two refs it moves lands once, and is found`, async () => {
    let cuts = 0;
    for (let refs = 0; refs < rounds; refs += 1) {
      const { setting, lander, candidate, request } = await setUpLanding(onOtherBranch());
      await using _ = setting;
      using cutter = cutGit();
      const asked = request('r1', await candidate('r1'), { as, ...(as === 'merge' ? { target: 'main' } : {}) });
      cutter.after(refs);
      await lander.land(asked).catch(() => undefined);
      if (cutter.wasCut()) cuts += 1;
      const found = await lander.find(asked);
      const landed = await lander.land(asked);
      expect(landed).toMatchObject({ landed: as });
      if (found !== undefined) expect(landed).toEqual(found);
      expect(await lander.find(asked)).toEqual(landed);
      const branches = git(setting.seed.dir, 'for-each-ref', '--format=%(refname)', 'refs/heads').split('\n');
      expect(branches).toHaveLength(as === 'branch' ? 3 : 2);
      if (as === 'merge') expect(git(setting.seed.dir, 'rev-list', '--count', `${setting.seed.base}..main`)).toBe('1');
      setting.checkpoint();
    }
    expect(cuts).toBeGreaterThanOrEqual(3);
    expect(cuts).toBeLessThan(rounds);
  });

test('P2 L5 a cut landing that a person has built upon meanwhile is found and not made again', async () => {
  for (let refs = 0; refs < rounds; refs += 1) {
    const { setting, lander, candidate, request } = await setUpLanding(onOtherBranch());
    await using _ = setting;
    const { dir, base } = setting.seed;
    const commit = await candidate('r1');
    const asked = request('r1', commit, {
      as: 'merge',
      target: 'main',
      verifyCombined: () =>
        Promise.resolve({ pass: false, why: 'nobody asked for a second one', evidence: request('r1', commit).evidence }),
    });
    {
      using cutter = cutGit();
      cutter.after(refs);
      await lander.land(asked).catch(() => undefined);
      cutter.wasCut();
    }
    if (git(dir, 'rev-parse', 'main') === base) continue;
    const tree = git(dir, 'rev-parse', 'main^{tree}');
    git(dir, 'update-ref', 'refs/heads/main', git(dir, 'commit-tree', tree, '-p', 'main', '-m', 'By a colleague'));
    const landed = await lander.land(asked);
    expect(landed).toEqual({ landed: 'merge', target: 'main', commit: git(dir, 'rev-parse', 'main^') });
    setting.checkpoint();
  }
});

test('P2 L5 a plan that another change of the target overtook is not taken for a landing', async () => {
  const { setting, lander, candidate, request } = await setUpLanding(onOtherBranch());
  await using _ = setting;
  const { dir } = setting.seed;
  const asked = request('r1', await candidate('r1'), { as: 'merge', target: 'main' });
  {
    using cutter = cutGit();
    // The plan is written, the target has not moved.
    cutter.after(2);
    await lander.land(asked).catch(() => undefined);
    expect(cutter.wasCut()).toBe(true);
  }
  git(dir, 'update-ref', 'refs/heads/main', git(dir, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'By a colleague'));
  expect(await lander.find(asked)).toBeUndefined();
  setting.checkpoint();
});

test('P2 L5 a candidate that is cut between two refs is committed anew or found whole', async () => {
  let cuts = 0;
  for (let refs = 0; refs < rounds; refs += 1) {
    const { setting, candidate } = await setUpLanding({});
    await using _ = setting;
    const { workspaces, base } = setting;
    using cutter = cutGit();
    const { dir } = await workspaces.open('r1', base);
    git(dir, 'commit', '-q', '--allow-empty', '-m', 'Of the agent');
    cutter.after(refs);
    await candidate('r1', { 'src/sum.mjs': rightSum }).catch(() => undefined);
    if (cutter.wasCut()) cuts += 1;
    // What is written after the cut is not in a candidate that was whole.
    const again = await workspaces.commit('r1', 1, base, 'Attempt 1 of r1');
    expect(again).toMatchObject({ changed: ['src/sum.mjs'], agentCommits: 1, leftOut: [], unfinished: expect.anything() as unknown });
    expect(await workspaces.commit('r1', 1, base, 'Attempt 1 of r1')).toEqual(again);
    expect(git(setting.seed.dir, 'show', `${again.commit}:src/sum.mjs`)).not.toBe(wrongSum.trim());
    setting.checkpoint();
  }
  expect(cuts).toBeGreaterThanOrEqual(2);
});
