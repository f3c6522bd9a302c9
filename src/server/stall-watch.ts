import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Shorter ones are the machine's daily life. */
const stallMs = 100;
const usualLookMs = 10_000;
const resolutionMs = 20;

/**
 * Watches how long this process at the longest does nothing but one thing, so that nobody else is served meanwhile.
 * @param told gets each new longest stall since the watch began, in milliseconds, at most one a look
 * @param lookMs between two looks; ten seconds where nothing else is said
 * @returns stop
 */
export const watchStalls = (told: (ms: number) => void, lookMs = usualLookMs): (() => void) => {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  let longestMs = stallMs;
  const look = (): void => {
    const ms = delays.max / 1e6 - resolutionMs;
    if (ms <= longestMs) return;
    longestMs = ms;
    told(Math.round(ms));
  };
  delays.enable();
  const timer = setInterval(look, lookMs).unref();
  return () => {
    clearInterval(timer);
    delays.disable();
  };
};
