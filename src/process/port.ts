// Processes that outlive the engine. The engine never runs an agent or a check as its own child: a detached shim does, which records
// who it is, bounds what is kept of the output, enforces the limits, and writes the result by fsync and rename. Everything about one
// process stands in its job folder, so a restarted engine finds a live process, a finished one, or proof that there is none.

export type StdinSource = { readonly kind: 'none' } | { readonly kind: 'file'; readonly path: string };

export interface ProcessLimits {
  /** From start to end; `undefined` means none. Time in which the machine or the whole tree was suspended does not count. */
  readonly deadlineMs: number | undefined;
  /** Longest silence on stdout and stderr together; `undefined` means none. */
  readonly idleMs: number | undefined;
  /** Between asking to end and killing. */
  readonly graceMs: number;
  /** Most bytes kept of each stream: the head and the tail, the middle cut with a note. */
  readonly outputBytes: number;
}

export interface ProcessSpec {
  /** Program and arguments; no shell is put between. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment of the process: nothing is inherited. Never written to disk (it may hold secrets); only the names are. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: StdinSource;
  readonly limits: ProcessLimits;
  /** The value of GYRE_MARK put into the environment, by which every descendant can be found, also in sessions of its own. */
  readonly marker: string;
  /** `end`: the tree is ended when the engine that started it is gone (checks). `outlive`: it goes on and waits to be adopted (agents). */
  readonly whenOwnerDies: 'end' | 'outlive';
  /** What asks the program to end. */
  readonly askSignal: 'SIGINT' | 'SIGTERM';
}

export type ProcessEnd =
  | 'exited'
  | 'deadline'
  | 'idle'
  | 'cancelled'
  /** Ended by the engine because the final result was already there. */
  | 'after-result'
  | 'owner-died'
  /** The program could not be started; `problem` says why. */
  | 'not-started'
  /** Shim and process vanished without a result (power loss, a kill -9 of the shim). */
  | 'lost';

export interface StreamFile {
  /** Raw bytes as kept, complete only after the end. */
  readonly path: string;
  readonly bytesSeen: number;
  readonly bytesKept: number;
  readonly cut: boolean;
}

export interface ProcessResult {
  readonly end: ProcessEnd;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly wallMs: number;
  /** Time in which the shim saw itself suspended. */
  readonly suspendedMs: number;
  readonly orphansKilled: number;
  readonly problem: string;
  readonly stdout: StreamFile;
  readonly stderr: StreamFile;
}

/** A process by more than its number, which the system gives out again: pid, start time in clock ticks since boot, and boot id. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
}

export interface ManagedProcess {
  readonly jobDir: string;
  readonly wasAdopted: boolean;
  /** Settles when the whole tree is gone and the streams are complete. Never rejects for what the program did. */
  readonly result: Promise<ProcessResult>;
  /** Bytes of stdout from the first one on, in order; after a flood, bytes that were rotated away are skipped and `cut` is called. */
  onStdout(listener: { bytes(chunk: Uint8Array): void; cut?(bytesLost: number): void }): void;
  /** Asks, waits the grace, kills the group, sweeps. Idempotent; the first reason stands. */
  end(reason: 'cancelled' | 'after-result'): void;
}

export interface ProcessHost {
  /**
   * Starts a process under the shim, or takes over what the job folder already holds: a live process is adopted, a finished one is
   * read, a lost one gives `lost`. Never starts a second process for one job folder.
   * @param jobDir absolute; made if missing; belongs to this process alone
   */
  open(jobDir: string, spec: ProcessSpec): Promise<ManagedProcess>;
  /** What a job folder holds, without starting anything. */
  inspect(jobDir: string): Promise<'absent' | 'running' | 'ended' | 'lost'>;
  /**
   * Makes sure that no process starts in this job folder any more, so that the slow shim of a dead engine finds its place taken.
   * `claimed`: a shim was first; `open` adopts, reads or reports it. After `revoked`, `open` gives `not-started`.
   */
  revoke(jobDir: string): Promise<'revoked' | 'claimed'>;
  /** Ends every process of this machine that carries the marker; returns how many there were. */
  sweep(marker: string): Promise<number>;
}
