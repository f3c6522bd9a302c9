// The door of dispatch: which task is started when, who owns it, what its failures mean, and what is remembered of it.
export * from './port.ts';
export type { Failure, FailureClass } from './failure.ts';
export { chooseStarts } from './choose-starts.ts';
export { recentStartsMs } from './pressure.ts';
export { waitText } from './wait-text.ts';
export {
  abandonProbe,
  beginProbe,
  breakerAfterFailure,
  breakerAfterSuccess,
  breakerGate,
  closedBreaker,
  type Breaker,
  type BreakerCause,
  type BreakerChange,
  type BreakerGate,
  type BreakerNotice,
} from './breaker.ts';
export { isAwake, mergeKey, nextLook, noWakeFacts, wakesAt, type Wake, type WakeFacts } from './wake.ts';
export { classifyFailure, type AttemptFacts } from './classify-failure.ts';
export { nextTry, retryPolicies, type ClassPolicy, type NextTry, type TriesByClass } from './retry-policy.ts';
export * from './claims/port.ts';
export { heldByText, openClaims } from './claims/open-claims.ts';
export * from './tasks/port.ts';
export { recogniseTasks } from './tasks/recognise.ts';
export { addTried, triedText } from './tasks/tried.ts';
export { needStatesOf } from './tasks/need-state.ts';
export { mirrorNote, noteFor, noteMarker, type NoteChange, type TaskNote, type TaskTracker } from './tasks/note.ts';
