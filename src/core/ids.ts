// Identities. Brands keep one kind of string from being used as another; a brand costs nothing at run time.

declare const brand: unique symbol;
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** A run: everything for one task from claim to close. Sorts by time of start: `r` + base-36 time + random part. */
export type RunId = Brand<string, 'RunId'>;
/** Stable name of a task within its loop, e.g. `test:src/a.test.js > adds`. The same work keeps the same key on every discovery. */
export type TaskKey = Brand<string, 'TaskKey'>;
/** Full hexadecimal name of a git commit (SHA-1 or SHA-256 repositories). */
export type CommitSha = Brand<string, 'CommitSha'>;
/** Lower-case hexadecimal SHA-256 of the bytes of a piece of evidence. */
export type EvidenceHash = Brand<string, 'EvidenceHash'>;
/** Milliseconds since the Unix epoch. */
export type EpochMs = Brand<number, 'EpochMs'>;

export const runId = (text: string): RunId => text as RunId;
export const taskKey = (text: string): TaskKey => text as TaskKey;
export const epochMs = (value: number): EpochMs => value as EpochMs;

const sha = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Accepts exactly a full object name; anything else is a defect of the caller, because git prints nothing else. */
export const commitSha = (text: string): CommitSha => {
  if (!sha.test(text)) throw new TypeError(`Not a full git object name: ${JSON.stringify(text.slice(0, 80))}`);
  return text as CommitSha;
};

const hash = /^[0-9a-f]{64}$/;

export const evidenceHash = (text: string): EvidenceHash => {
  if (!hash.test(text)) throw new TypeError(`Not a SHA-256: ${JSON.stringify(text.slice(0, 80))}`);
  return text as EvidenceHash;
};

/**
 * Makes a new run id from the time and 40 random bits.
 * @param now time of the claim
 * @param random a number in [0, 2^40)
 */
export const newRunId = (now: EpochMs, random: number): RunId =>
  `r${now.toString(36).padStart(9, '0')}${Math.floor(random).toString(36).padStart(8, '0')}` as RunId;
