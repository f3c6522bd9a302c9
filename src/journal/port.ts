// The durable door (ENGINE.md, section 6).
//
//  1. A step is identified by (run, key). Keys are explicit and unique in a run; the same key twice in one execution is a defect.
//  2. A recorded outcome is returned for ever and the function not called again. The intent is on disk before the function is called.
//  3. In flight at a crash: `rerun`, `adopt` (processes), `reconcile` (ask the world first), or `ask` (park the run for a person).
//  4. One owning process per state home, known by pid, start time and boot id; taken over only when that process is gone; every write
//     carries the epoch and a stale epoch is refused.
//  5. Signals are stored, first in first out per run and name, whether or not anyone waits; each is taken once, under the wait's key.
//  6. A payload over 256 KiB goes to a blob and the journal holds its hash. A run has at most 10,000 keys: `continueAs` starts afresh.
//  7. A storage failure is never a step failure.
//  8. Cancel is a durable request that any process may write; it reaches the running step through its AbortSignal. The run ends
//     `cancelled`, and its cleanups run.
//  9. Slots are held by steps that perform, and released while a step waits for its retry; a waiting run costs a row, not a worker.
// 10. A run records name and version of its loop: a version that nobody here knows is parked, never run by another one.
export * from './port/rows.ts';
export * from './port/handler.ts';
export * from './port/reader.ts';
export * from './port/engine.ts';
export * from './port/requests.ts';
