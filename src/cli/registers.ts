import type { Engine } from '../journal/index.ts';
import type { Registers } from '../schedule/index.ts';

/** The journal's registers as the schedule asks for them. */
export const registersOf = (engine: Pick<Engine, 'put' | 'reader'>): Registers => ({
  get: (register, key) => engine.reader.registerEntry(register, key),
  list: (register, filter) => engine.reader.register(register, filter),
  put: (changes) => engine.put(changes),
});
