import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { triggerId, type EventTrigger, type GitRefs } from '../../src/core/trigger.ts';
import { describeSchedule } from '../../src/schedule/read.ts';
import { every, hourMs, loopOf, minuteMs, schedule, World } from './world.ts';

let folder: string;
let world: World;
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
const write = async (name: string, text: string): Promise<void> => {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
};
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'gyre-schedule-')));
  git('init', '-q', '-b', 'main');
  await write('.gitignore', 'out/\n');
  await write('src/a.ts', 'a');
  git('add', '-A');
  git('commit', '-qm', 'one');
  world = new World('2026-01-01T00:00:00Z');
});
afterEach(async () => {
  await world.scheduler?.stop();
  await rm(folder, { recursive: true, force: true });
});

const onGit = (refs: GitRefs): EventTrigger => ({
  on: 'git',
  id: triggerId('git', [refs.kind, refs.pattern]),
  overlap: 'allow',
  refs,
  pollMs: 5000,
});
const onWatch = (...globs: readonly string[]): EventTrigger => ({ on: 'watch', id: triggerId('watch', globs), overlap: 'allow', globs });
const onAfter = (loop: string, ...exits: readonly string[]): EventTrigger => ({
  on: 'after',
  id: triggerId('after', [loop, ...exits]),
  overlap: 'queue',
  loop,
  exits,
});
const look = () => world.scheduler?.look();
const commit = (text: string): string => {
  git('commit', '-q', '--allow-empty', '-m', text);
  return git('rev-parse', 'HEAD');
};

test('L11 a branch that moved while nothing looked fires once, for where it is now', async () => {
  const loops = [loopOf('push', onGit({ kind: 'branch', pattern: 'main' }))];
  await world.start(loops, { repository: folder });
  await look();
  expect(world.started).toEqual([]);
  await world.scheduler?.stop();
  world.die();
  commit('two');
  const sha = commit('three');
  await world.start(loops, { repository: folder });
  await look();
  expect(world.started.map(({ window }) => window.id)).toEqual([`push/${loops[0]?.triggers[0]?.id}/refs/heads/main@${sha}`]);
});

test('SCD-30 a branch that returns to a commit is another window', async () => {
  await world.start([loopOf('push', onGit({ kind: 'branch', pattern: 'main' }))], { repository: folder });
  const first = git('rev-parse', 'HEAD');
  const second = commit('two');
  await look();
  git('reset', '-q', '--hard', first);
  await look();
  git('reset', '-q', '--hard', second);
  await look();
  expect(world.started.map(({ window }) => window.id.slice(window.id.indexOf('@') + 1))).toEqual([second, first, `${second}#2`]);
});

test('SCD-31 a new tag that matches fires, another does not', async () => {
  await world.start([loopOf('tag', onGit({ kind: 'tag', pattern: 'v*' }))], { repository: folder });
  git('tag', 'other');
  git('tag', '-m', 'annotated', 'v1');
  await look();
  expect(world.started.map(({ window }) => window.cause['ref'])).toEqual(['refs/tags/v1']);
});

test('SCD-32 a push to a bare remote fires', async () => {
  git('init', '-q', '--bare', 'out/remote.git');
  git('push', '-q', 'out/remote.git', 'main');
  await world.start([loopOf('remote', onGit({ kind: 'remote', remote: 'out/remote.git', pattern: '**' }))], { repository: folder });
  const sha = commit('two');
  git('push', '-q', 'out/remote.git', 'main', 'main:feature/x');
  await look();
  expect(world.started.map(({ window }) => `${window.cause['ref']} ${window.cause['to'] === sha}`).sort()).toEqual([
    'refs/heads/feature/x true',
    'refs/heads/main true',
  ]);
});

test('SCD-33 a remote that cannot be reached is told and tried again, and nothing fires', async () => {
  await world.start([loopOf('remote', onGit({ kind: 'remote', remote: 'out/none.git', pattern: '**' }))], { repository: folder });
  expect(world.reports).toMatchObject([{ kind: 'trouble', loop: 'remote' }]);
  expect(world.started).toEqual([]);
});

test('L11 files that changed while nothing looked are one window; what git ignores is none', async () => {
  const loops = [loopOf('files', onWatch('src/**', 'out/**'))];
  await world.start(loops, { repository: folder });
  await write('out/ignored.ts', 'x');
  await look();
  expect(world.started).toEqual([]);
  await world.scheduler?.stop();
  world.die();
  await write('src/a.ts', 'b');
  await write('src/new/b.ts', 'b');
  await world.start(loops, { repository: folder });
  await look();
  expect(world.started).toHaveLength(1);
});

test('SCD-34 a file written with the content it had starts nothing', async () => {
  await world.start([loopOf('files', onWatch('src/**'))], { repository: folder });
  await write('src/a.ts', 'a');
  await look();
  expect(world.started).toEqual([]);
});

test('SCD-35 a change is noticed by its hint, without a timer', async () => {
  await world.start([loopOf('files', onWatch('src/**')), loopOf('push', onGit({ kind: 'branch', pattern: 'main' }))], {
    repository: folder,
  });
  await write('src/a.ts', 'changed');
  commit('two');
  for (let n = 0; n < 300 && world.started.length < 2; n += 1) await wait(50);
  expect(world.started.map(({ window }) => window.loop).sort()).toEqual(['files', 'push']);
});

test('SCD-36 the end of another loop with an awaited exit fires once for each tick', async () => {
  world.tickMs = minuteMs;
  await world.start([loopOf('first', every(hourMs)), loopOf('then', onAfter('first', 'parked'))]);
  await world.pass(hourMs + 2 * minuteMs);
  expect(world.started.map(({ window }) => window.loop)).toEqual(['first']);
  await world.pass(hourMs - 1.5 * minuteMs);
  Object.assign(world.started[1] ?? {}, { exit: 'parked' });
  await world.pass(5 * minuteMs);
  expect(world.started.map(({ window }) => window.loop)).toEqual(['first', 'first', 'then']);
  expect(world.started[2]?.window.cause).toEqual({ loop: 'first', tick: world.started[1]?.window.id, exit: 'parked' });
});

test('SCD-37 an unknown loop and a circle are refused at load', async () => {
  await expect(world.start([loopOf('first'), loopOf('then', onAfter('frist'))])).rejects.toMatchObject({
    issues: [{ found: 'frist, and there is no such loop', nearest: 'first' }],
  });
  await expect(world.start([loopOf('a', onAfter('b')), loopOf('b', onAfter('a'))])).rejects.toMatchObject({
    issues: [{ found: 'a circle: a waits for b waits for a' }, {}],
  });
});

test('SCD-40 past ends, coming windows in local time, and an alarm when nothing looks', async () => {
  const loops = [loopOf('daily', schedule('30 2 * * *', 'Europe/Berlin'))];
  await world.start(loops);
  await world.passTo('2026-01-02T12:00:00Z');
  const view = { loops, registers: world.registers, pastCount: 5, nextCount: 3 };
  const [daily] = describeSchedule(view, world.now);
  expect(daily).toMatchObject({
    text: 'at 30 2 * * * (Europe/Berlin)',
    unseen: 0,
    alarm: undefined,
    past: [{ end: 'fired' }, { end: 'fired' }],
  });
  expect(daily?.next.map(({ local }) => local)).toEqual([
    '2026-01-03 02:30 Europe/Berlin',
    '2026-01-04 02:30 Europe/Berlin',
    '2026-01-05 02:30 Europe/Berlin',
  ]);
  await world.scheduler?.stop();
  world.die();
  await world.passTo('2026-01-06T12:00:00Z');
  expect(describeSchedule(view, world.now)[0]).toMatchObject({
    unseen: 4,
    alarm: '4 windows of daily passed and nothing looked: is gyre up running?',
  });
});
