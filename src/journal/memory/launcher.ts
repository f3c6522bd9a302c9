import type { LoopHandler } from '../port.ts';

/** What an execution asks of its engine. */
export interface Launcher {
  /** Executes an open run with this handler, unless it is being executed. */
  launch(run: string, handler: LoopHandler): void;
  /** Asks a run to end, and those of its children that end with it. */
  cancel(run: string, options: { readonly reason: string; readonly children?: 'cancel' | 'leave' }): Promise<void>;
}
