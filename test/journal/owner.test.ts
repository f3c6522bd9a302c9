import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openReader } from '../../src/journal/index.ts';
import { isAlive, selfIdentity } from '../../src/process/index.ts';
import { journalFile } from '../../src/journal/schema.ts';
import { makeLab } from './lab.ts';

const engineChild = fileURLToPath(new URL('engine-child.ts', import.meta.url));

/** An engine in a process of its own. */
const startEngineProcess = async (stateHome: string) => {
  const child = spawn(process.execPath, [engineChild, stateHome], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { pid: child.pid ?? 0, said: said.toString(), kill, signal: (name: NodeJS.Signals) => child.kill(name) };
};

test('JRN-09 a second engine is refused while the first one lives, naming its process and since when', async () => {
  await using lab = makeLab();
  const other = await startEngineProcess(lab.stateHome);
  try {
    expect(other.said).toBe('owned\n');
    await expect(lab.open()).rejects.toMatchObject({
      code: 'STATE_HOME_HELD',
      message: expect.stringMatching(new RegExp(`by process ${other.pid} since 20\\d\\d-`)) as string,
      data: { pid: other.pid },
    });
    using reader = openReader(lab.stateHome);
    expect(reader?.owner()).toMatchObject({ identity: { pid: other.pid }, epoch: 1, alive: true });
    // A suspended engine is not a dead one.
    other.signal('SIGSTOP');
    await expect(lab.open()).rejects.toMatchObject({ code: 'STATE_HOME_HELD' });
  } finally {
    await other.kill();
  }
  using reader = openReader(lab.stateHome);
  expect(reader?.owner()).toMatchObject({ alive: false });
  const engine = await lab.open();
  expect(engine.reader.owner()).toMatchObject({ identity: { pid: process.pid }, epoch: 2, alive: true });
});

test('JRN-09 an engine in the same process counts as a second one', async () => {
  await using lab = makeLab();
  const first = await lab.open();
  await expect(lab.open()).rejects.toMatchObject({ code: 'STATE_HOME_HELD', data: { pid: process.pid } });
  await first[Symbol.asyncDispose]();
  const second = await lab.open();
  expect(second.reader.owner()?.epoch).toBe(2);
});

test('JRN-09 an owner whose process number now belongs to another program does not block the start', async () => {
  await using lab = makeLab();
  const sleeper = spawn('sleep', ['300'], { stdio: 'ignore' });
  try {
    await (await lab.open())[Symbol.asyncDispose]();
    const db = new DatabaseSync(journalFile(lab.stateHome));
    const { startTime, bootId } = selfIdentity();
    const forge = db.prepare('UPDATE owner SET pid = ?, start_time = ?, boot_id = ?, released = 0');
    forge.run(sleeper.pid ?? 0, String(Number(startTime) - 5), bootId);
    writeFileSync(path.join(lab.stateHome, 'lock'), `${sleeper.pid}\n`);
    const engine = await lab.open();
    expect(engine.reader.owner()?.identity.pid).toBe(process.pid);
    await engine[Symbol.asyncDispose]();
    // The same number with its true start time is a living owner, also where the file system grants every lock.
    const stat = (await import('node:fs')).readFileSync(`/proc/${sleeper.pid}/stat`, 'utf8');
    forge.run(sleeper.pid ?? 0, stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '', bootId);
    await expect(lab.open()).rejects.toMatchObject({ code: 'STATE_HOME_HELD', data: { pid: sleeper.pid } });
    // Another boot: nothing of it lives.
    forge.run(sleeper.pid ?? 0, stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '', 'another-boot');
    await (await lab.open())[Symbol.asyncDispose]();
    db.close();
    expect(sleeper.exitCode).toBeNull();
  } finally {
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
  }
});

test('JNL-20 a process is alive only under its own start time and boot', () => {
  const self = selfIdentity();
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ ...self, startTime: '1' })).toBe(false);
  expect(isAlive({ ...self, bootId: 'other' })).toBe(false);
});

test('JNL-21 a released state home has no owner, and the next epoch is the next number', async () => {
  await using lab = makeLab();
  await (await lab.open())[Symbol.asyncDispose]();
  using reader = openReader(lab.stateHome);
  expect(reader?.owner()).toBeUndefined();
  expect(reader?.facts().map((fact) => fact.kind)).toEqual(['owner.taken', 'owner.released']);
  expect((await lab.open()).reader.owner()?.epoch).toBe(2);
});

test('JRN-03 an empty journal file starts a new journal; an empty one beside a full log is refused with what to do', async () => {
  await using lab = makeLab();
  mkdirSync(lab.stateHome, { recursive: true });
  writeFileSync(journalFile(lab.stateHome), '');
  writeFileSync(path.join(lab.stateHome, 'lock'), '');
  expect(openReader(lab.stateHome)).toBeUndefined();
  await (await lab.open())[Symbol.asyncDispose]();
  writeFileSync(journalFile(lab.stateHome), '');
  writeFileSync(`${journalFile(lab.stateHome)}-wal`, 'something');
  await expect(lab.open()).rejects.toMatchObject({
    code: 'JOURNAL_CORRUPT',
    hint: expect.stringContaining('Move both files aside') as string,
  });
  expect(() => openReader(lab.stateHome)).toThrow(expect.objectContaining({ code: 'JOURNAL_CORRUPT' }) as Error);
});
