import path from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, git, makeRepository, rightSum, useIsolatedHome, write, wrongSum } from '../testkit/repositories.ts';
import { combinedEvidence, setUpLanding } from './setting.ts';

useIsolatedHome();

/** A repository whose user stands on another branch, so that `main` is checked out nowhere; `advance` commits to main. */
const onOtherBranch = () => {
  const seed = makeRepository();
  git(seed.dir, 'switch', '-q', '-c', 'feature');
  const clone = path.join(seed.home, 'colleague');
  git(seed.home, 'clone', '-q', '-b', 'main', seed.dir, clone);
  const advance = (files: Readonly<Record<string, string>>): string => {
    git(clone, 'fetch', '-q', 'origin');
    git(clone, 'reset', '-q', '--hard', 'origin/main');
    write(clone, files);
    const commit = commitAll(clone, 'By a colleague');
    git(clone, 'push', '-q', 'origin', 'main');
    return commit;
  };
  return { seed, advance };
};

const passes = { pass: true, why: '', evidence: combinedEvidence };

test('L4 a target that did not move gets the candidate as one commit, without a second check', async () => {
  const { seed } = onOtherBranch();
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const asked = request('r1', await candidate('r1'), { as: 'merge', target: 'main' });
  const landed = await lander.land(asked);
  expect(landed).toMatchObject({ landed: 'merge', target: 'main', commit: git(seed.dir, 'rev-parse', 'main') });
  expect(git(seed.dir, 'show', 'main:src/sum.mjs')).toBe(rightSum.trim());
  expect(git(seed.dir, 'rev-list', '--count', `${seed.base}..main`)).toBe('1');
  expect(await lander.find(asked)).toEqual(landed);
  expect(await lander.fate(landed, { tip: undefined, target: 'main' })).toBe('on-target');
  setting.checkpoint();
});

test('MRG-03 on a target that moved the combination is judged, and only a pass lands it', async () => {
  const { seed, advance } = onOtherBranch();
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const commit = await candidate('r1');
  const tip = advance({ 'other.txt': 'other\n' });
  const judged: string[][] = [];
  const asked = request('r1', commit, {
    as: 'merge',
    target: 'main',
    verifyCombined: async (combined, base) => {
      judged.push([git(seed.dir, 'ls-tree', '-r', '--name-only', combined), base, git(seed.dir, 'rev-parse', `${combined}^`)]);
      return { ...passes, pass: judged.length > 1, why: 'other.mjs calls what is gone' };
    },
  });
  const refused = await lander.land(asked);
  expect(refused).toMatchObject({
    landed: 'no',
    ref: 'refs/gyre/runs/r1/a1',
    why: expect.stringContaining('other.mjs calls what is gone') as string,
  });
  expect(git(seed.dir, 'rev-parse', 'main')).toBe(tip);
  const landed = await lander.land(asked);
  expect(landed.landed).toBe('merge');
  expect(judged).toEqual(Array.from({ length: 2 }, () => ['README.md\ncheck\nother.txt\nsrc/sum.mjs', tip, tip]));
  expect(git(seed.dir, 'rev-parse', 'main^')).toBe(tip);
  expect(git(seed.dir, 'show', '-s', '--format=%(trailers:key=Gyre-Evidence,valueonly)', 'main').trim()).toBe(combinedEvidence);
  setting.checkpoint();
});

test('MRG-03 a conflict is not landed and names its files', async () => {
  const { seed, advance } = onOtherBranch();
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const commit = await candidate('r1');
  const tip = advance({ 'src/sum.mjs': wrongSum.replace('a - b', 'b - a'), 'ok.txt': 'x' });
  const landed = await lander.land(request('r1', commit, { as: 'merge', target: 'main' }));
  expect(landed).toEqual({
    landed: 'no',
    ref: 'refs/gyre/runs/r1/a1',
    why: 'The change conflicts with what reached main meanwhile, in 1 file(s): "src/sum.mjs".',
  });
  expect(git(seed.dir, 'rev-parse', 'main')).toBe(tip);
  setting.checkpoint();
});

test('L4 a target that moves while the combination is judged is judged again, three times at most', async () => {
  const { seed, advance } = onOtherBranch();
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const commit = await candidate('r1');
  advance({ 'first.txt': '0' });
  let moves = 2;
  let judged = 0;
  const asked = request('r1', commit, {
    as: 'merge',
    target: 'main',
    verifyCombined: async () => {
      judged += 1;
      if (moves > 0) advance({ [`move-${moves}.txt`]: 'x' });
      moves -= 1;
      return passes;
    },
  });
  expect((await lander.land(asked)).landed).toBe('merge');
  expect(judged).toBe(3);
  expect(git(seed.dir, 'rev-list', '--count', `${seed.base}..main`)).toBe('4');
  const second = await candidate('r2', { 'second.txt': 'second' });
  moves = 9;
  judged = 0;
  const busy = await lander.land({ ...asked, run: request('r2', second).run, candidate: second });
  expect(busy).toMatchObject({ landed: 'no', why: 'main moved 3 times while the change was being landed.' });
  expect(judged).toBe(3);
  setting.checkpoint();
});

test('L6 a target that is checked out, missing, unrelated or already holding the change is not moved', async () => {
  const { seed, advance } = onOtherBranch();
  git(seed.dir, 'branch', 'unrelated', git(seed.dir, 'commit-tree', '-m', 'x', `${seed.base}^{tree}`));
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const commit = await candidate('r1');
  const whyNot = async (target: string | undefined): Promise<string> => {
    const landed = await lander.land(request('r1', commit, { as: 'merge', target }));
    return landed.landed === 'no' ? landed.why : landed.landed;
  };
  expect(await whyNot('feature')).toBe(
    `feature is checked out in ${seed.dir}, and moving it would change what stands there. Bring it in by hand: git -C "${seed.dir}" merge refs/gyre/runs/r1/a1`,
  );
  expect(await whyNot('nowhere')).toBe('There is no local branch nowhere.');
  expect(await whyNot('unrelated')).toMatch(/does not contain the commit/);
  expect(await whyNot(undefined)).toBe('No target branch is given for a merge.');
  advance({ 'src/sum.mjs': rightSum });
  expect(await whyNot('main')).toBe('Everything in the change is on main already, so there is nothing to land.');
  setting.checkpoint();
});

test('L4 the fate of a delivered branch: waiting, merged in any of four ways, or gone', async () => {
  for (const way of ['merge', 'fast-forward', 'cherry-pick', 'squash'] as const) {
    const { setting, lander, candidate, request } = await setUpLanding();
    const { seed } = setting;
    const landed = await lander.land(request('r1', await candidate('r1')));
    if (landed.landed !== 'branch') throw new Error(JSON.stringify(landed));
    expect(await lander.fate(landed, { tip: undefined, target: 'main' })).toBe('waiting');
    write(seed.dir, { 'later.txt': 'later' });
    if (way !== 'fast-forward') commitAll(seed.dir, 'later');
    if (way === 'merge' || way === 'fast-forward') git(seed.dir, 'merge', '-q', '--no-edit', landed.branch);
    if (way === 'cherry-pick') git(seed.dir, 'cherry-pick', landed.commit);
    if (way === 'squash') {
      git(seed.dir, 'merge', '-q', '--squash', landed.branch);
      write(seed.dir, { 'with.txt': 'another change in the same commit' });
      commitAll(seed.dir, 'squashed');
    }
    git(seed.dir, 'branch', '-q', '-D', landed.branch);
    expect([way, await lander.fate(landed, { tip: undefined, target: 'main' })]).toEqual([way, 'on-target']);
    setting.checkpoint();
    await setting[Symbol.asyncDispose]();
  }
  const { setting, lander, candidate, request } = await setUpLanding();
  await using _ = setting;
  const landed = await lander.land(request('r1', await candidate('r1')));
  expect(await lander.fate(landed, { tip: undefined, target: 'nowhere' })).toBe('waiting');
  if (landed.landed === 'branch') git(setting.seed.dir, 'branch', '-q', '-D', landed.branch);
  expect(await lander.fate(landed, { tip: undefined, target: 'main' })).toBe('gone');
});
