/** Most that a retry is put off, as a share of its wait. */
const shareMax = 0.25;

/**
 * How much longer the wait for a retry takes, so that many that failed together do not come back together. Never shorter: a wait that
 * was asked for is kept.
 * @param draw chance in [0, 1)
 * @returns whole milliseconds
 */
export const jitterMs = (waitMs: number, draw: number): number => Math.floor(Math.max(0, waitMs) * shareMax * draw);
