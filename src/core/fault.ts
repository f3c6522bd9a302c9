// Bad news that is not an outcome. An outcome (tests failed, claim lost) is a value; a rejection is a list of issues with their
// origin; a fault is thrown at the edge and caught in the step runner or in the command line; a defect is a broken assertion.

export interface FaultOptions {
  /** What the reader can do about it. One sentence. */
  readonly hint?: string;
  /** Facts for machines: paths, ids, numbers. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Something the world refused. Match on `code`, never on the message. */
export class Fault extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: string, sentence: string, options: FaultOptions = {}) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }
}

/** Where a value in a file stands. Lines and columns count from 1. */
export interface Origin {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** One thing wrong with what the user wrote. */
export interface Issue {
  readonly origin: Origin;
  /** Dotted path of the key, e.g. `stop.attempts`; empty for the file as a whole. */
  readonly key: string;
  readonly found: string;
  readonly wanted: string;
  /** The nearest known key or value, where there is one. */
  readonly nearest?: string;
}

/** Bad usage or configuration: exit code 2, nothing changed. */
export class Rejection extends Error {
  readonly issues: readonly Issue[];
  readonly hint: string | undefined;

  constructor(sentence: string, options: { readonly issues?: readonly Issue[]; readonly hint?: string } = {}) {
    super(sentence);
    this.name = 'Rejection';
    this.issues = options.issues ?? [];
    this.hint = options.hint;
  }
}

/** A broken assertion of Gyre itself. The run is parked and every fact kept. */
export class Defect extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'Defect';
  }
}

export function assert(condition: unknown, sentence: string): asserts condition {
  if (condition !== true) throw new Defect(sentence);
}
