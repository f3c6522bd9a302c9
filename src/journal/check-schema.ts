import { Fault } from '../core/fault.ts';
import type { Schema } from './port.ts';

/** @throws Fault SCHEMA_MISMATCH */
export const checkSchema = <T>(schema: Schema<T> | undefined, value: unknown, what: string): T => {
  if (schema === undefined) return value as T;
  try {
    return schema.parse(value);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault('SCHEMA_MISMATCH', `${what} does not fit its schema: ${detail}`, { cause: error });
  }
};
