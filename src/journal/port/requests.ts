// What any process may ask of the owner, by rows that it takes.
import type { RunId } from '../../core/ids.ts';

/** Written by any process; a no-op for an ended or unknown run. Returns whether an open run was asked. */
export type RequestCancel = (stateHome: string, run: RunId, reason: string) => boolean;

export interface StartRequest {
  readonly handler: string;
  readonly version: number;
  readonly input: unknown;
  readonly id: RunId;
  readonly dedupeKey: string;
  readonly priority?: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Written by any process: a pending run, begun by the owner that serves its handler. The same id, or the dedupe key of an open run,
 * gives the existing run. */
export type RequestStart = (stateHome: string, request: StartRequest) => { readonly run: RunId; readonly existing: boolean };

export interface SignalRequest {
  /** '' is the engine itself: always accepted. */
  readonly run: string;
  readonly name: string;
  readonly payload: unknown;
  /** A second signal of this run and name with the same key is a duplicate and not stored. */
  readonly dedupeKey?: string;
  /** Who gives it; default ''. */
  readonly by?: string;
}

/** `accepted` is false for an ended or unknown run; a duplicate is accepted and changes nothing. */
export interface SignalReceipt {
  readonly accepted: boolean;
  readonly duplicate: boolean;
}

/** Written by any process. */
export type RequestSignal = (stateHome: string, request: SignalRequest) => SignalReceipt;

/** Written by any process. Returns whether an open run was asked. */
export type RequestState = (stateHome: string, run: string, want: 'pause' | 'resume', reason: string) => boolean;
