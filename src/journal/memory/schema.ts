import { Fault } from '../../core/fault.ts';
import type { Schema } from '../port.ts';

/** A value as its schema gives it back. @throws Fault SCHEMA_MISMATCH */
export const parsed = <T>(schema: Schema<T> | undefined, value: unknown, what: string): T => {
  if (schema === undefined) return value as T;
  try {
    return schema.parse(value);
  } catch (error) {
    throw new Fault('SCHEMA_MISMATCH', `${what} does not fit its schema: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
};
