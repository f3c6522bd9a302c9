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
