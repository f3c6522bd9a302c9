// Claims of tasks that others can see too (an issue of a tracker): held while a run is at work on them, over all engines of one user on
// this machine. Within a state home the engine's dedupe key is enough.
import { heldByText, type Claims } from '../dispatch/index.ts';
import type { Task } from '../core/task.ts';
import type { ProcessIdentity } from '../process/index.ts';

/** Long enough that a machine under load renews it many times over. */
const leaseMs = 60_000;
const beatMs = 15_000;

export interface TaskClaims {
  /** Holds the claim of a task until `release`. @returns why not, where another holds it; a task without an outside name is free */
  hold(task: Task, run: string, lost: () => void): Promise<Held>;
  close(): Promise<void>;
}

export type Held = { readonly held: 'yes'; readonly release: () => void } | { readonly held: 'no'; readonly why: string };

const noClaim: Held = { held: 'yes', release: () => undefined };

export interface TaskClaimsParts {
  /** Opens the claims; asked for once, when the first task with an outside name comes. */
  readonly open: () => Promise<Claims>;
  readonly stateHome: string;
  readonly self: () => ProcessIdentity;
  readonly after: (ms: number, act: () => void) => { cancel(): void };
}

export const createTaskClaims = ({ open, stateHome, self, after }: TaskClaimsParts): TaskClaims => {
  let opened: Promise<Claims> | undefined;
  return {
    hold: async (task, run, lost) => {
      if (task.claim === undefined) return noClaim;
      const key = task.claim;
      const claims = await (opened ??= open());
      const claimed = claims.claim({ key, holder: { process: self(), stateHome, run }, leaseMs });
      if (claimed.claimed === 'no') return { held: 'no', why: heldByText(claimed.heldBy) };
      const { token } = claimed;
      let timer: { cancel(): void };
      const beat = (): void => {
        if (claims.beat({ key, token, leaseMs })) timer = after(beatMs, beat);
        else lost();
      };
      timer = after(beatMs, beat);
      return {
        held: 'yes',
        release: () => {
          timer.cancel();
          claims.release({ key, token });
        },
      };
    },
    close: async () => (await opened)?.close(),
  };
};
