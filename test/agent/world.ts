import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { AgentAdapter, AgentParts, AgentRequest } from '../../src/agent/index.ts';
import { createAgent } from '../../src/agent/index.ts';
import type { AgentDefinition } from '../../src/core/loop-definition.ts';
import type { ProcessLimits, ProcessResult } from '../../src/process/index.ts';

export const scriptRunner = [process.execPath, path.resolve(import.meta.dirname, '../../src/agent/scripted-runner.ts')];
export const fixtureAgent = path.resolve(import.meta.dirname, 'fixture-agent.mjs');

export const limits: ProcessLimits = { deadlineMs: 45_000, idleMs: undefined, graceMs: 2000, outputBytes: 64 * 1024 * 1024 };

/** A folder with a workspace, a place for process files, and a prompt; removed by `await using`. */
export class World implements AsyncDisposable {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  static async open(): Promise<World> {
    // Blanks, quotes and letters beyond ASCII, because people's folders have them.
    const world = new World(await mkdtemp(path.join(os.tmpdir(), "gyre-agent it's größe-")));
    await mkdir(world.workspace);
    await mkdir(path.join(world.dir, 'job'));
    await mkdir(path.join(world.dir, 'home'));
    return world;
  }

  get workspace(): string {
    return path.join(this.dir, 'work space');
  }

  get job(): string {
    return path.join(this.dir, 'job');
  }

  async write(name: string, text: string): Promise<string> {
    const file = path.join(this.dir, name);
    await writeFile(file, text);
    return file;
  }

  agent(definition: AgentDefinition, env: AgentParts['env'] = {}): AgentAdapter {
    const parts = { env: { PATH: process.env['PATH'], HOME: path.join(this.dir, 'home'), ...env }, home: '/nowhere' };
    return createAgent(definition, { ...parts, scriptRunner, scriptDir: this.dir });
  }

  async request(overrides: Partial<AgentRequest> = {}, prompt = 'Make it green.\n'): Promise<AgentRequest> {
    return {
      cwd: this.workspace,
      promptFile: await this.write('prompt.md', prompt),
      run: 'r000000001',
      task: 'test:src/add.test.js > adds',
      taskTitle: 'adds two numbers',
      attempt: 1,
      limits,
      budgetUsd: undefined,
      earlier: [],
      marker: `agent-test-${process.pid}-${path.basename(this.dir).slice(-6)}`,
      ...overrides,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A request where none of its fields matters. */
export const anyRequest: AgentRequest = {
  cwd: '/workspace',
  promptFile: '/prompt.md',
  run: 'r1',
  task: 'test:a',
  taskTitle: 'a',
  attempt: 1,
  limits: { deadlineMs: 1000, idleMs: 500, graceMs: 100, outputBytes: 1000 },
  budgetUsd: undefined,
  earlier: [],
  marker: 'm',
};

/** A process that ended by itself with exit code 0, changed as given. */
export const processResult = (changes: Partial<ProcessResult> = {}): ProcessResult => {
  const stream = { path: '/stream', bytesSeen: 0, bytesKept: 0, cut: false };
  const base = { startedAt: 0, endedAt: 1200, wallMs: 1200, suspendedMs: 0, orphansKilled: 0, problem: '', stdout: stream, stderr: stream };
  return { end: 'exited', exitCode: 0, signal: null, ...base, ...changes };
};
