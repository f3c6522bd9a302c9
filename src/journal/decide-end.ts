import { Defect, type Fault } from '../core/fault.ts';
import { CancelledError } from './cancelled-error.ts';
import { errorRecord } from './error-record.ts';
import type { Blobs } from './blobs.ts';
import { encodePayload } from './payload.ts';
import type { RunEnd } from './run-records.ts';

export type HandlerEnd = { readonly threw: false; readonly output: unknown } | { readonly threw: true; readonly error: unknown };

const failed = (error: unknown): RunEnd => ({ state: 'failed', output: undefined, error: errorRecord(error) });
const cancelled = (reason: string): RunEnd => ({ state: 'cancelled', output: undefined, error: { code: 'CANCELLED', message: reason } });

/**
 * How a run ends. A broken assertion, or a limit that ends the run, fails it always; a handler that came to its end is done, even when the
 * cancel came too late to stop it; whatever a cancelled handler throws is the cancel.
 */
export const decideEnd = (
  blobs: Blobs,
  ended: HandlerEnd,
  facts: { readonly run: string; readonly doom: Defect | Fault | undefined; readonly cancelledFor: string | undefined },
): RunEnd => {
  if (facts.doom !== undefined) return failed(facts.doom);
  if (ended.threw) {
    if (ended.error instanceof Defect) return failed(ended.error);
    if (facts.cancelledFor !== undefined) return cancelled(facts.cancelledFor);
    return ended.error instanceof CancelledError ? cancelled(ended.error.message) : failed(ended.error);
  }
  try {
    return { state: 'done', output: encodePayload(blobs, ended.output, `The output of run ${facts.run}`), error: undefined };
  } catch (error) {
    return failed(error);
  }
};
