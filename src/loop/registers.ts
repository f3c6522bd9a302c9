// Names of the journal's registers that the cycle keeps: durable values that belong to no run.

/** Key: loop. Value: its breaker. */
export const breakerRegister = 'breakers';
/** Key: kind/loop/instant. Value: what a person has to know. */
export const noticeRegister = 'notices';
/** Key: run. Value: the wake condition of a run that ended and goes on by itself. */
export const parkedRegister = 'parked';
