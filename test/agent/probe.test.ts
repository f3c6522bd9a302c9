import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { programOf } from '../../src/agent/command-adapter.ts';
import { probeCommand } from '../../src/agent/probe-command.ts';
import { carriers } from './run-spec.ts';
import { World } from './world.ts';

const program = async (world: World, name: string, body: string, mode = 0o755): Promise<string> => {
  const file = await world.write(name, `#!/bin/sh\n${body}\n`);
  await chmod(file, mode);
  return file;
};

const pathOf = (world: World) => ({ PATH: `/no/such/folder:${world.dir}:${process.env['PATH'] ?? ''}` });

describe('looking for a program', () => {
  it('AGT-50 a program on PATH is found with its version', async () => {
    await using world = await World.open();
    const file = await program(world, 'agent-x', 'echo "2.1.332 (Agent X)"');
    expect(await probeCommand('agent-x', pathOf(world))).toEqual({ installed: true, version: '2.1.332', path: file, problem: '' });
    expect(await probeCommand(file, {})).toMatchObject({ installed: true, version: '2.1.332' });
  });

  it('AGT-51 a version line of another form is taken as it is, plain', async () => {
    await using world = await World.open();
    const file = await program(world, 'agent-x', "printf '\\033[1mnightly\\033[0m\\nmore\\n'");
    expect((await probeCommand(file, {})).version).toBe('nightly');
  });

  it('AGT-52 folders and files that cannot be executed are no programs', async () => {
    await using world = await World.open();
    await mkdir(path.join(world.dir, 'folder-x'));
    await program(world, 'text-x', 'echo 1.0', 0o644);
    expect((await probeCommand('folder-x', pathOf(world))).installed).toBe(false);
    const probe = await probeCommand(path.join(world.dir, 'text-x'), {});
    expect(probe.problem).toContain('make the file executable');
  });

  it('AGT-53 a program that does not answer is ended with its children after the limit, and the sentence says so', async () => {
    await using world = await World.open();
    const marker = `probe-${process.pid}-${path.basename(world.dir).slice(-6)}`;
    const file = await program(world, 'slow-x', 'sleep 300 & sleep 300');
    const probe = await probeCommand(file, { PATH: process.env['PATH'], GYRE_MARK: marker }, 400);
    expect(probe).toMatchObject({ installed: true, version: undefined });
    expect(probe.problem).toContain('within 0.4 s');
    await expect.poll(() => carriers(marker), { timeout: 10_000 }).toEqual([]);
  });

  it('AGT-54 a child that holds the output open does not hold up the answer, and is ended', async () => {
    await using world = await World.open();
    const marker = `probe-${process.pid}-${path.basename(world.dir).slice(-6)}`;
    const file = await program(world, 'wrapper-x', 'echo 3.4.5\nsleep 300 &');
    const probe = await probeCommand(file, { PATH: process.env['PATH'], GYRE_MARK: marker });
    expect(probe).toMatchObject({ version: '3.4.5', problem: '' });
    await expect.poll(() => carriers(marker), { timeout: 10_000 }).toEqual([]);
  });

  it('AGT-55 a program that fails at its version is installed, with a sentence', async () => {
    await using world = await World.open();
    const file = await program(world, 'broken-x', 'exit 1');
    expect(await probeCommand(file, {})).toMatchObject({
      installed: true,
      version: undefined,
      problem: expect.stringContaining('by hand') as string,
    });
  });

  it.each([
    ['node fix.mjs', 'node'],
    ['  codex exec --json', 'codex'],
    ['./agent.sh', undefined],
    ['A=1 node x', undefined],
    ['cd sub && node x', undefined],
    ['"my agent" x', undefined],
    ['$AGENT', undefined],
    ['(node x)', undefined],
  ])('AGT-56 the program of the command %j is %j', (command, wanted) => {
    expect(programOf(command)).toBe(wanted);
  });

  it('AGT-57 a command that begins with a word of the shell can be used', async () => {
    await using world = await World.open();
    expect(await world.agent({ use: 'command', command: 'cd sub && node x', prompt: 'stdin' }).probe()).toMatchObject({
      installed: true,
      problem: '',
    });
  });
});
