// What a daemon says of itself in the journal, so that every other process knows whom it talks to.
import type { JournalReader } from '../journal/index.ts';
import type { ProcessIdentity } from '../process/index.ts';

/** Register and key of the journal. */
export const daemonRegister = 'engine';
export const daemonKey = 'daemon';

export interface DaemonState {
  /** Of the ownership it speaks for: a state left by a dead daemon is not taken for the living owner's. */
  readonly epoch: number;
  readonly version: string;
  readonly startedAt: number;
  readonly log: string;
  readonly webhooks: { readonly host: string; readonly port: number } | undefined;
}

/** Requests that other processes leave for the daemon, as signals of the engine itself. */
export const requests = { down: 'down', retry: 'retry' } as const;

export interface Daemon extends DaemonState {
  readonly identity: ProcessIdentity;
}

/** The living daemon of a state home; undefined when there is none, or the owner is a `gyre run`. */
export const daemonOf = (reader: JournalReader | undefined): Daemon | undefined => {
  const owner = reader?.owner();
  if (owner?.alive !== true) return undefined;
  const state = reader?.registerEntry(daemonRegister, daemonKey)?.value as DaemonState | undefined;
  return state?.epoch === owner.epoch ? { ...state, identity: owner.identity } : undefined;
};
