import { z } from 'zod';
import { gyreSchema } from './gyre-schema.ts';
import { loopSchema } from './loop-schema.ts';

// Draft 7 is what editors read best.
const write = (schema: z.ZodType): Record<string, unknown> => ({ ...z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) });

/** JSON Schema (draft 7) of the front matter of a loop file. */
export const loopJsonSchema = (): Record<string, unknown> => write(loopSchema);

/** JSON Schema (draft 7) of `gyre.yaml`. */
export const gyreJsonSchema = (): Record<string, unknown> => write(gyreSchema);
