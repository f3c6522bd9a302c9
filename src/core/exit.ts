// The one named reason a run ended, and what the process says of it (DESIGN 5.5).

export type StopReason = 'attempts' | 'budget' | 'time' | 'no-progress' | 'oscillation' | 'impossible' | 'cancelled';

export type RunExit =
  | { readonly exit: 'goal-met' }
  /** `why`: what made it so while it was worked on. */
  | { readonly exit: 'nothing-to-do'; readonly why?: string }
  /** A person is needed; `why` is one sentence. */
  | { readonly exit: 'parked'; readonly why: string }
  | { readonly exit: 'stopped'; readonly by: StopReason; readonly why: string }
  /** Something broke that is neither the task's nor the agent's: the machine, git, Gyre. */
  | { readonly exit: 'fault'; readonly code: string; readonly why: string };

/**
 * Process exit codes. Two belong to no run: 2 is bad usage or configuration, 6 a daemon that was at work and had to stop. Who starts
 * daemons (`gyre service`) starts one again after 6, and not after 2 or 5, which at its start are refusals.
 */
export const exitCodes = { 'goal-met': 0, 'nothing-to-do': 0, usage: 2, parked: 3, stopped: 4, fault: 5, daemonStopped: 6 } as const;

export const exitCodeOf = (exit: RunExit): number => exitCodes[exit.exit];

/** The code of several runs together: the one that most needs a person to look. */
export const worstExitCode = (exits: readonly RunExit[]): number => exits.reduce((worst, exit) => Math.max(worst, exitCodeOf(exit)), 0);

/** For people: `goal-met`, `parked: ...`, `stopped (attempts): ...`. */
export const exitText = (exit: RunExit): string => {
  switch (exit.exit) {
    case 'goal-met':
      return exit.exit;
    case 'nothing-to-do':
      return exit.why === undefined ? exit.exit : `${exit.exit}: ${exit.why}`;
    case 'parked':
      return `parked: ${exit.why}`;
    case 'stopped':
      return `stopped (${exit.by}): ${exit.why}`;
    case 'fault':
      return `fault ${exit.code}: ${exit.why}`;
  }
};
