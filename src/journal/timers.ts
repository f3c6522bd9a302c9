import type { Timers } from './port.ts';

export const systemTimers: Timers = {
  after: (ms, fn) => {
    const timer = setTimeout(fn, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};
