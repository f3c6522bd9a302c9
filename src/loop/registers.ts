// Names of the journal's registers that the cycle keeps: durable values that belong to no run.

/** Key: loop. Value: its breaker. */
export const breakerRegister = 'breakers';
/** Key: kind/loop. Value: what a person has to know, until it is over. */
export const noticeRegister = 'notices';
/** Key: run. Value: what a run that ended waits for before it goes on by itself (`Parked`). */
export const parkedRegister = 'parked';
/** Key: dedupe key of the task. Value: tries used by class of failure. */
export const triesRegister = 'tries';
/** Key: loop/record. Value: what is remembered of a task (`TaskRecord`). */
export const taskRegister = 'tasks';
