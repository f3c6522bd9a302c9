import type { RunRow, RunState } from './port.ts';

/** The states of a run that has not ended. */
export const openStates: readonly RunState[] = ['pending', 'running', 'paused', 'needs-attention'];

export const isOpen = (run: Pick<RunRow, 'endedAt'>): boolean => run.endedAt === undefined;
