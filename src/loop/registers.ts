// Names of the journal's registers that the cycle keeps: durable values that belong to no run.

/** Key: loop. Value: its breaker. */
export const breakerRegister = 'breakers';
/** Key: kind/loop/instant. Value: what a person has to know. */
export const noticeRegister = 'notices';
