import type { Engine, JournalReader } from '../journal/index.ts';
import type { Registers } from '../schedule/index.ts';

/** The journal's registers for those who only look; empty where nothing was ever run. */
export const registersOf = (reader: JournalReader | undefined): Pick<Registers, 'get' | 'list'> => ({
  get: (register, key) => reader?.registerEntry(register, key),
  list: (register, filter) => reader?.register(register, filter) ?? [],
});

/** The journal's registers as the schedule keeps its state in them. */
export const ownRegisters = (engine: Pick<Engine, 'put' | 'reader'>): Registers => ({
  ...registersOf(engine.reader),
  put: (changes) => engine.put(changes),
});
