// A small engine for tests that kill one: opens a job and waits for its result. Arguments: job folder, file with the spec as JSON.
import { readFileSync } from 'node:fs';

import { createProcessHost, sourceShim } from '../../src/process/index.ts';
import type { ProcessSpec } from '../../src/process/index.ts';

const [jobDir = '', specFile = ''] = process.argv.slice(2);
const job = await createProcessHost({ shim: sourceShim }).open(jobDir, JSON.parse(readFileSync(specFile, 'utf8')) as ProcessSpec);
process.stdout.write(`${job.wasAdopted ? 'adopted' : 'started'}\n`);
const result = await job.result;
process.stdout.write(`${result.end}\n`);
