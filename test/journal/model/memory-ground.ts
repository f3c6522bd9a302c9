import { createMemoryJournal, type MemoryJournal } from '../../../src/journal/memory/index.ts';
import type { Ground } from './play.ts';

export const memoryGround = (): Ground => {
  let journal: MemoryJournal | undefined;
  return {
    open: (options, hooks) => {
      journal ??= createMemoryJournal(options.clock);
      return journal.open({ ...options, ...hooks });
    },
    close: () => {},
  };
};
