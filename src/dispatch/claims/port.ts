// Claims: the exclusive right to work on a task that others can see too (an issue of a tracker), over all state homes of one user on one
// machine. Within a state home the engine's dedupe key does this already.
//
//  1. At most one holder a key. Each claim gives a higher token than every claim before it, whatever the key.
//  2. A claim is taken over only when its lease has run out AND the holder's process AND every process it named as working for the claim
//     are gone. Never by time alone: a suspended holder is alive and keeps it.
//  3. A holder that comes back after its claim was taken over learns it by its token: `beat` and `holds` say no, and it stops.
//  4. A state home whose engine died takes its own claims back at once, for the same run: its lock lets in one engine at a time.
import type { EpochMs } from '../../core/ids.ts';
import type { ProcessIdentity } from '../../process/index.ts';

export interface ClaimHolder {
  readonly process: ProcessIdentity;
  /** Absolute path of the state home the run belongs to. */
  readonly stateHome: string;
  readonly run: string;
}

export interface ClaimRow extends ClaimHolder {
  readonly key: string;
  /** Fencing number: of two holders the one with the higher token is the later one. */
  readonly token: number;
  readonly claimedAt: EpochMs;
  readonly leaseUntil: EpochMs;
  /** Processes that work for the claim and may outlive the engine: agents under their keeper. */
  readonly workers: readonly ProcessIdentity[];
}

export type ClaimResult =
  | { readonly claimed: 'yes'; readonly token: number; readonly leaseUntil: EpochMs }
  | { readonly claimed: 'no'; readonly heldBy: ClaimRow };

export interface ClaimToken {
  readonly key: string;
  readonly token: number;
}

/** Every call is one short transaction on a local file, and synchronous. @throws Fault CLAIMS_FAILED when the file cannot be used */
export interface Claims {
  /** Claims a key for `leaseMs`. The same living holder and run asking again keeps its claim, with the same token and a new lease. */
  claim(request: { readonly key: string; readonly holder: ClaimHolder; readonly leaseMs: number }): ClaimResult;
  /** Extends the lease. @returns false when the claim is no longer ours: stop working on the task */
  beat(held: ClaimToken & { readonly leaseMs: number }): boolean;
  /** The fence: ask before an effect that others can see. */
  holds(held: ClaimToken): boolean;
  /** Names a process that works for the claim, so that nobody takes it over while that one lives. @returns as `beat` */
  addWorker(held: ClaimToken & { readonly worker: ProcessIdentity }): boolean;
  /** Gives the claim back. Releasing what is no longer ours changes nothing and returns false. */
  release(held: ClaimToken): boolean;
  holderOf(key: string): ClaimRow | undefined;
  /** All claims that are held, by key. */
  list(): readonly ClaimRow[];
  close(): void;
}

export interface ClaimsOptions {
  /** Folder that all state homes of a user share, `<XDG_STATE_HOME>/gyre`; the file `claims.sqlite` is made in it. */
  readonly stateRoot: string;
  readonly clock: () => EpochMs;
  readonly isAlive: (process: ProcessIdentity) => boolean;
}
