import { randomBytes } from 'node:crypto';
import { type RunId, runId } from '../core/ids.ts';

/** The window of a tick that a person asked for: each asking is a window of its own. */
export const manualTickId = (loop: string): RunId => runId(`${loop}/manual/${new Date().toISOString()}-${randomBytes(3).toString('hex')}`);
