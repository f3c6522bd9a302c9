import { randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { cutMiddle, plainText, slug } from '../core/text.ts';
import type { CheckObservation } from '../core/verdict.ts';
import type { ProcessResult, ProcessSpec } from '../process/index.ts';
import type { Dependencies } from '../workspace/index.ts';
import { createBaselines } from './baseline-cache.ts';
import { checkEnvironment } from './check-environment.ts';
import { observeReport } from './observe-report.ts';
import type { CheckRunner, EvidenceStore, ReadReport, WorkspaceForChecks } from './port.ts';
import { folderInRoom, readInRoom, writeInRoom } from './room-files.ts';
import { findShell, type Shell } from './shell.ts';

/** Most bytes kept of each stream of a check. */
const outputBytes = 10_000_000;
/** Largest report file that is read. */
const reportBytes = 32_000_000;
/** Letters of output that stand in the observation itself; the rest is in the evidence store. */
const outputLetters = 16_000;
/** Between asking a check to end and killing it. */
const graceMs = 5_000;

export interface CheckRunnerParts {
  readonly workspaces: WorkspaceForChecks;
  readonly evidence: EvidenceStore;
  /** Absolute folder; holds `baselines/` and the temporary folders of running checks. */
  readonly stateHome: string;
  /** The engine's environment, of which a check sees what `checkEnvironment` allows. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readReport: ReadReport;
  /** Keeps what set-up made for other clean rooms. */
  readonly dependencies?: Dependencies | undefined;
}

type ObserveRequest = Parameters<CheckRunner['observe']>[0];

const endOf = (result: ProcessResult): CheckObservation['end'] => {
  switch (result.end) {
    case 'exited':
      return result.signal === null && result.exitCode !== null ? 'ran' : 'killed';
    case 'deadline':
    case 'idle':
      return 'timed-out';
    case 'not-started':
      return 'not-started';
    case 'cancelled':
    case 'after-result':
    case 'owner-died':
    case 'lost':
      return 'killed';
  }
};

const problemOf = (result: ProcessResult, timeoutMs: number): string => {
  switch (endOf(result)) {
    case 'ran':
    case 'setup-failed':
      return '';
    case 'timed-out':
      return `It was ended after ${timeoutMs} ms, its time limit.`;
    case 'not-started':
      return `It could not be started: ${result.problem}`;
    case 'killed':
      return result.end === 'exited'
        ? `It was ended by ${result.signal ?? 'an unknown signal'}.`
        : `It was ended early (${result.end}). ${result.problem}`.trim();
  }
};

/** What is the same for every process of one observation. */
interface Scene {
  readonly request: ObserveRequest;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shell: Shell;
  readonly marker: string;
}

const specOf = (scene: Scene, commandLine: string, deadlineMs: number): ProcessSpec => ({
  command: scene.shell.command,
  args: [...scene.shell.args, commandLine],
  cwd: scene.cwd,
  env: scene.env,
  stdin: { kind: 'none' },
  limits: { deadlineMs, idleMs: undefined, graceMs, outputBytes },
  marker: scene.marker,
  whenOwnerDies: 'end',
  askSignal: 'SIGTERM',
});

/** Makes the runner of checks. Every check runs in a fresh clean room of exactly one commit, never in an agent's folder (L1). */
export const createCheckRunner = ({ workspaces, evidence, stateHome, env, readReport, dependencies }: CheckRunnerParts): CheckRunner => {
  const observation = async (
    scene: Pick<Scene, 'request' | 'cwd'>,
    facts: Pick<CheckObservation, 'end' | 'problem'> & Partial<CheckObservation>,
    streams: readonly (Buffer | string)[] = [],
  ): Promise<CheckObservation> => {
    const bytes = Buffer.concat(streams.map((stream) => Buffer.from(stream as Buffer)));
    return {
      command: scene.request.check.command,
      cwd: scene.cwd,
      exitCode: null,
      signal: null,
      durationMs: 0,
      report: { read: 'no-format' },
      output: cutMiddle(plainText(bytes.toString('utf8')), outputLetters),
      outputHash: await evidence.put(bytes),
      ...facts,
    };
  };

  /** Dependency folders kept of an earlier set-up, or the set-up command. @returns what was observed when that failed */
  const setUp = async (
    scene: Scene,
    { room, command }: { readonly room: string; readonly command: string },
  ): Promise<CheckObservation | undefined> => {
    const { key, run, setupTimeoutMs, prefix, pin, share = [], ofUser = false } = scene.request;
    let failed: CheckObservation | undefined;
    const perform = async (): Promise<boolean> => {
      const result = await run(`${key}/setup`, specOf(scene, command, setupTimeoutMs));
      const problem = problemOf(result, setupTimeoutMs) || (result.exitCode === 0 ? '' : `exit code ${result.exitCode}`);
      if (problem === '') return true;
      const streams = [await readFile(result.stdout.path), await readFile(result.stderr.path)];
      const facts = { end: 'setup-failed', problem: `The set-up command failed: ${problem}`, durationMs: result.wallMs } as const;
      failed = await observation(scene, { ...facts, exitCode: result.exitCode, signal: result.signal }, streams);
      return false;
    };
    const place = { dir: await realpath(room), prefix, command, env: scene.env, folders: share };
    if (share.length > 0 && dependencies !== undefined)
      await dependencies.provide({ ...place, mayKeep: ofUser && pin === undefined }, perform);
    else await perform();
    return failed;
  };

  /** Set-up, then the command. The folder is looked at before each: what vanished meanwhile is not looked for elsewhere (WTR-07). */
  const runIn = async (scene: Scene, room: string): Promise<CheckObservation> => {
    const { request, cwd, shell } = scene;
    const { check, key, run, setup } = request;
    const failed = setup === undefined ? undefined : await setUp(scene, { room, command: setup });
    if (failed !== undefined) return failed;
    const folder = await folderInRoom(room, request.prefix);
    if ('problem' in folder) return observation(scene, { end: 'not-started', problem: folder.problem });
    const reportFile = check.report.file === undefined ? undefined : path.resolve(cwd, check.report.file);
    // A report that was committed, or left by set-up, is not one of this run.
    if (reportFile?.startsWith(`${await realpath(room)}${path.sep}`) === true) await rm(reportFile, { force: true });

    const result = await run(`${key}/check`, specOf(scene, check.command, check.timeoutMs));
    const [stdout, stderr] = [await readFile(result.stdout.path), await readFile(result.stderr.path)];
    const file = reportFile === undefined ? undefined : await readInRoom(room, reportFile, reportBytes);
    const texts = { stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8') };
    const end = endOf(result);
    return observation(
      scene,
      {
        end,
        problem: end === 'ran' ? shell.weakness : problemOf(result, check.timeoutMs),
        exitCode: result.exitCode,
        signal: result.signal,
        durationMs: result.wallMs,
        report: observeReport({ check, process: result, ...texts, cwd, file, read: readReport }),
      },
      [stdout, stderr],
    );
  };

  const observe = async (request: ObserveRequest): Promise<CheckObservation> => {
    const { check, commit, key, pin, prefix } = request;
    // Keys are unique in a run only, and two runs may check at once: the room's name has chance in it.
    const mark = randomBytes(4).toString('hex');
    const name = `check-${slug(key, 40)}-${mark}`;
    const temporary = path.join(stateHome, 'tmp', mark);
    const room = await workspaces.cleanRoom(name, commit, pin === undefined ? undefined : { from: pin.from, paths: pin.paths });
    try {
      for (const patch of pin?.patches ?? []) {
        const problem = await writeInRoom(room.dir, patch.path, patch.text);
        if (problem !== '') return await observation({ request, cwd: room.dir }, { end: 'not-started', problem });
      }
      const folder = await folderInRoom(room.dir, prefix);
      if ('problem' in folder)
        return await observation({ request, cwd: path.join(room.dir, prefix) }, { end: 'not-started', problem: folder.problem });
      await mkdir(temporary, { recursive: true });
      const checkEnv: Readonly<Record<string, string>> = { TMPDIR: temporary, ...checkEnvironment(env, check.env) };
      const shell = await findShell(checkEnv['PATH'] ?? '');
      return await runIn({ request, cwd: folder.dir, env: checkEnv, shell, marker: name }, room.dir);
    } finally {
      await rm(temporary, { recursive: true, force: true, maxRetries: 3 });
      await workspaces.discardCleanRoom(name);
    }
  };

  return { observe, baseline: createBaselines({ observe, env, stateHome }) };
};
