// The processes of the simulated machine. They live on when the engine dies, and are found again by their job folders.
import type { ProcessEnd, ProcessResult, ProcessSpec } from '../src/process/index.ts';
import type { Clock } from './clock.ts';

/** What a program does, decided when it starts. */
export interface Program {
  readonly durationMs: number;
  /** Does its work. Called once, when it came to its end by itself. */
  finish(): { readonly exitCode: number; readonly stdout: string };
  /** It was ended before. @returns what it had printed by then */
  broken(end: ProcessEnd): string;
}

/** Programs by the command that starts them. @throws for a command nobody knows */
export type Programs = (spec: ProcessSpec) => Program;

export interface SimProcess {
  readonly jobDir: string;
  readonly spec: ProcessSpec;
  readonly startedAt: number;
  result: ProcessResult | undefined;
  /** Told once, when it has ended. */
  readonly listeners: ((result: ProcessResult) => void)[];
  /** Asks it to end. */
  end(reason: 'cancelled' | 'after-result'): void;
}

export interface Machine {
  readonly files: Map<string, Buffer>;
  start(jobDir: string, spec: ProcessSpec): SimProcess;
  process(jobDir: string): SimProcess | undefined;
  /** Every process that is alive. */
  alive(): readonly SimProcess[];
  /** Ends what does not outlive its engine. */
  ownerDied(): void;
  /** Every process is gone without a result. */
  powerLoss(): void;
}

/** How long a process takes to end when it is asked to. */
const endingMs = 700;

export const createMachine = (
  clock: Clock,
  programs: Programs,
  told: { started(process: SimProcess): void; ended(process: SimProcess): void },
): Machine => {
  const files = new Map<string, Buffer>();
  const processes = new Map<string, SimProcess>();
  const killers = new Map<string, (end: ProcessEnd) => void>();

  const start = (jobDir: string, spec: ProcessSpec): SimProcess => {
    const program = programs(spec);
    const startedAt = clock.wall();
    const begunMs = clock.uptimeMs();
    let timer: { cancel(): void } | undefined;
    const process: SimProcess = { jobDir, spec, startedAt, result: undefined, listeners: [], end: (reason) => ask(reason) };

    const close = (end: ProcessEnd, exitCode: number | null, stdout: string): void => {
      if (process.result !== undefined) return;
      timer?.cancel();
      const wallMs = clock.uptimeMs() - begunMs;
      const file = (name: string, text: string) => {
        const bytes = Buffer.from(text);
        files.set(`${jobDir}/${name}`, bytes);
        return { path: `${jobDir}/${name}`, bytesSeen: bytes.length, bytesKept: bytes.length, cut: false };
      };
      process.result = {
        end,
        exitCode,
        signal: exitCode === null ? 'SIGKILL' : null,
        startedAt,
        endedAt: startedAt + wallMs,
        wallMs,
        suspendedMs: 0,
        orphansKilled: 0,
        problem: '',
        stdout: file('stdout', stdout),
        stderr: file('stderr', ''),
      };
      told.ended(process);
      for (const listener of process.listeners.splice(0)) listener(process.result);
    };
    const kill = (end: ProcessEnd): void => {
      if (process.result === undefined) close(end, null, program.broken(end));
    };
    const ask = (end: ProcessEnd): void => {
      if (process.result !== undefined) return;
      clock.world.after(endingMs, () => kill(end));
    };
    const deadlineMs = spec.limits.deadlineMs ?? Infinity;
    timer =
      program.durationMs > deadlineMs
        ? clock.world.after(deadlineMs, () => kill('deadline'))
        : clock.world.after(program.durationMs, () => {
            const { exitCode, stdout } = program.finish();
            close('exited', exitCode, stdout);
          });
    processes.set(jobDir, process);
    killers.set(jobDir, kill);
    told.started(process);
    return process;
  };

  const alive = (): readonly SimProcess[] => [...processes.values()].filter((process) => process.result === undefined);

  return {
    files,
    start,
    process: (jobDir) => processes.get(jobDir),
    alive,
    ownerDied: () => {
      for (const { jobDir, spec } of alive()) {
        if (spec.whenOwnerDies === 'end') clock.world.after(endingMs, () => killers.get(jobDir)?.('owner-died'));
      }
    },
    powerLoss: () => {
      for (const { jobDir } of alive()) killers.get(jobDir)?.('lost');
    },
  };
};
