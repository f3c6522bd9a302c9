// Writes the JSON Schemas that editors use: `node scripts/with-node.mjs node scripts/write-schema.ts`. A test compares them.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gyreJsonSchema, loopJsonSchema } from '../src/config/index.ts';

const folder = path.join(import.meta.dirname, '..', 'schema');
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries({ loop: loopJsonSchema(), gyre: gyreJsonSchema() }))
  writeFileSync(path.join(folder, `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`);
