import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { git, makeRepository, rightSum, runIn, useIsolatedHome, write } from '../testkit/repositories.ts';
import { evidence, setUpLanding } from './setting.ts';

const { setIdentity } = useIsolatedHome();

test('GIT-13 a branch is base plus exactly one commit with the candidate tree, authored by the user, with readable trailers', async () => {
  const { setting, lander, candidate, request } = await setUpLanding();
  await using _ = setting;
  const { seed, base } = setting;
  const commit = await candidate('r1');
  const landed = await lander.land(request('r1', commit));
  setting.checkpoint();
  if (landed.landed !== 'branch') throw new Error(JSON.stringify(landed));
  expect(landed.branch).toBe('gyre/fix-tests/the-sum-adds');
  expect(git(seed.dir, 'rev-parse', landed.branch)).toBe(landed.commit);
  expect(git(seed.dir, 'rev-list', '--parents', '-1', landed.commit)).toBe(`${landed.commit} ${base}`);
  expect(git(seed.dir, 'rev-parse', `${landed.commit}^{tree}`)).toBe(git(seed.dir, 'rev-parse', `${commit}^{tree}`));
  expect(git(seed.dir, 'show', '-s', '--format=%an <%ae>|%s', landed.commit)).toBe(
    'Test Author <author@example.invalid>|gyre(fix-tests): The sum adds',
  );
  expect(git(seed.dir, 'show', '-s', '--format=%(trailers:only,unfold)', landed.commit).trim()).toBe(
    `Gyre-Run: r1\nGyre-Loop: fix-tests\nGyre-Evidence: ${evidence}`,
  );
});

test('L5 a landing is found again and not made a second time, whatever became of its branch', async () => {
  const { setting, lander, candidate, request } = await setUpLanding();
  await using _ = setting;
  const { seed } = setting;
  const asked = request('r1', await candidate('r1'));
  expect(await lander.find(asked)).toBeUndefined();
  const landed = await lander.land(asked);
  expect(await lander.find(asked)).toEqual(landed);
  expect(await lander.find({ ...asked, as: 'merge' })).toBeUndefined();
  expect(await lander.land(asked)).toEqual(landed);
  git(seed.dir, 'branch', '-q', '-D', 'gyre/fix-tests/the-sum-adds');
  expect(await lander.land(asked)).toEqual(landed);
  expect(git(seed.dir, 'branch', '--format=%(refname:short)')).toBe('main');
});

test('GIT-05 a name that is checked out elsewhere is left alone and another one taken', async () => {
  const seed = makeRepository();
  const other = path.join(seed.home, 'other tree');
  git(seed.dir, 'worktree', 'add', '-q', '-b', 'gyre/fix-tests/the-sum-adds', other);
  write(other, { 'README.md': 'edited\n' });
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const landed = await lander.land(request('r1', await candidate('r1')));
  expect(landed).toMatchObject({ landed: 'branch', branch: 'gyre/fix-tests/the-sum-adds-2' });
  expect(git(other, 'status', '--porcelain')).toBe(' M README.md');
  // A branch that is checked out and has no commit yet is no ref, and still taken.
  git(other, 'checkout', '-q', '--orphan', 'gyre/fix-tests/the-sum-adds-3');
  expect(await lander.land(request('r2', await candidate('r2')))).toMatchObject({ branch: 'gyre/fix-tests/the-sum-adds-4' });
  setting.checkpoint();
});

test('MRG-09 branches of independent runs differ from base by exactly their own file', async () => {
  const { setting, lander, candidate, request } = await setUpLanding();
  await using _ = setting;
  for (const run of ['r1', 'r2', 'r3']) {
    const landed = await lander.land(request(run, await candidate(run, { [`${run}.txt`]: run })));
    if (landed.landed !== 'branch') throw new Error(JSON.stringify(landed));
    expect(git(setting.seed.dir, 'diff', '--name-only', 'main', landed.branch)).toBe(`${run}.txt`);
    expect(git(setting.seed.dir, 'rev-list', '--count', `main..${landed.branch}`)).toBe('1');
  }
  setting.checkpoint();
});

test('EXT-01 an empty change is never landed, in no form', async () => {
  const { setting, lander, candidate, request } = await setUpLanding();
  await using _ = setting;
  const commit = await candidate('r1', {});
  for (const as of ['report', 'patch', 'branch', 'merge'] as const) {
    const landed = await lander.land(request('r1', commit, { as, target: 'main' }));
    expect(landed).toEqual({
      landed: 'no',
      why: 'The change is empty: the candidate has the same files as its base.',
      ref: 'refs/gyre/runs/r1/a1',
    });
  }
  expect(git(setting.seed.dir, 'branch', '--format=%(refname:short)')).toBe('main');
});

test('LND-02 a patch is accepted by git am and git apply, with binary files, odd names and settings that would spoil it', async () => {
  const bytes = Uint8Array.from({ length: 3_000 }, (_, at) => (at * 7) % 256);
  const files = { 'src/sum.mjs': rightSum, 'blob.bin': bytes, 'docs/naïve "q" -> b.txt': 'odd\nFrom here\n-- \ncut?\n' };
  const seed = makeRepository();
  for (const [key, value] of [
    ['diff.noprefix', 'true'],
    ['format.attach', 'x'],
    ['format.signature', 'me'],
    ['diff.submodule', 'log'],
    ['format.coverLetter', 'true'],
    ['format.outputDirectory', '/nonsense'],
  ]) {
    git(seed.dir, 'config', key ?? '', value ?? '');
  }
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const { base, workspaces } = setting;
  const commit = await candidate('r1', files);
  const asked = request('r1', commit, { as: 'patch', taskTitle: 'Größe: [x] the sum -- adds' });
  const landed = await lander.land(asked);
  if (landed.landed !== 'patch') throw new Error(JSON.stringify(landed));
  expect(await lander.find(asked)).toEqual(landed);
  const wanted = git(seed.dir, 'rev-parse', `${commit}^{tree}`);
  const am = await workspaces.cleanRoom('am', base);
  git(am.dir, 'am', '-q', landed.file);
  expect(git(am.dir, 'rev-parse', 'HEAD^{tree}')).toBe(wanted);
  expect(git(am.dir, 'show', '-s', '--format=%(trailers:key=Gyre-Run,valueonly)').trim()).toBe('r1');
  const apply = await workspaces.cleanRoom('apply', base);
  git(apply.dir, 'apply', '--index', landed.file);
  expect(git(apply.dir, 'write-tree')).toBe(wanted);
  expect(readdirSync(path.dirname(landed.file))).toEqual(['r1.patch']);
});

test('LND-03 a report keeps the candidate by its ref and makes nothing else', async () => {
  const { setting, lander, candidate, request } = await setUpLanding();
  await using _ = setting;
  const commit = await candidate('r1');
  const landed = await lander.land(request('r1', commit, { as: 'report' }));
  expect(landed).toEqual({ landed: 'report', commit });
  expect(existsSync(path.join(setting.stateHome, 'patches'))).toBe(false);
  expect(await lander.fate(landed, { tip: undefined, target: 'main' })).toBe('waiting');
});

test('LND-04 where nobody is configured Gyre is the author', async () => {
  const { setting, lander, candidate, request } = await setUpLanding();
  await using _ = setting;
  setIdentity(false);
  const landed = await lander.land(request('r1', await candidate('r1')));
  setIdentity(true);
  if (landed.landed !== 'branch') throw new Error(JSON.stringify(landed));
  expect(git(setting.seed.dir, 'show', '-s', '--format=%an <%ae>', landed.commit)).toBe('Gyre <gyre@localhost>');
  setting.checkpoint();
});

test('GIT-09 a signature that does not come ends within its limit: not landed, named, no lock, no process; unsigned only when allowed', async () => {
  const seed = makeRepository();
  const pidFile = path.join(seed.home, 'gpg-pid');
  const program = path.join(seed.home, 'gpg that sleeps');
  writeFileSync(program, `#!/bin/sh\necho $$ > '${pidFile}'\nsleep 600\n`);
  chmodSync(program, 0o755);
  git(seed.dir, 'config', 'commit.gpgsign', 'true');
  git(seed.dir, 'config', 'gpg.program', program);
  const { setting, lander, candidate, request } = await setUpLanding(seed, 2_000);
  await using _ = setting;
  const commit = await candidate('r1');
  const refused = await lander.land(request('r1', commit));
  expect(refused).toMatchObject({ landed: 'no', ref: 'refs/gyre/runs/r1/a1' });
  expect(refused.landed === 'no' ? refused.why : '').toMatch(/signing it did not end within 2 s/);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await expect.poll(() => runIn(seed.dir, 'kill', '-0', String(pid)).code, { timeout: 10_000 }).not.toBe(0);
  expect(runIn(seed.dir, 'find', '.git', '-name', '*.lock').output).toBe('');
  expect(git(seed.dir, 'branch', '--format=%(refname:short)')).toBe('main');
  writeFileSync(program, '#!/bin/sh\necho no key >&2\nexit 2\n');
  expect(await lander.land(request('r1', commit))).toMatchObject({
    landed: 'no',
    why: expect.stringContaining('signing it failed') as string,
  });
  const unsigned = await lander.land(request('r1', commit, { sign: 'never' }));
  expect(unsigned.landed).toBe('branch');
  setting.checkpoint();
});

test('GIT-09 a signature that comes is in the commit', async () => {
  const seed = makeRepository();
  const program = path.join(seed.home, 'gpg');
  writeFileSync(
    program,
    '#!/bin/sh\ncat > /dev/null\necho "[GNUPG:] SIG_CREATED D" >&2\nprintf -- "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n"\n',
  );
  chmodSync(program, 0o755);
  git(seed.dir, 'config', 'commit.gpgsign', 'true');
  git(seed.dir, 'config', 'gpg.program', program);
  const { setting, lander, candidate, request } = await setUpLanding(seed);
  await using _ = setting;
  const landed = await lander.land(request('r1', await candidate('r1')));
  if (landed.landed !== 'branch') throw new Error(JSON.stringify(landed));
  expect(git(seed.dir, 'cat-file', 'commit', landed.commit)).toContain('BEGIN PGP SIGNATURE');
  setting.checkpoint();
});
