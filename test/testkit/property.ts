import fastCheck from 'fast-check';

// Printed counter-examples replay with their seed; the number of runs is bounded so that a busy machine stays within the time limit.
fastCheck.configureGlobal({ numRuns: 200, interruptAfterTimeLimit: 20_000 });

export const fc: typeof fastCheck = fastCheck;
