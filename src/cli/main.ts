#!/usr/bin/env node
import './quiet.ts';
import { outliveReaders } from './print.ts';
import { buildProgram } from './program.ts';
import { reportError } from './report-error.ts';

outliveReaders();
try {
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportError(error, { json: process.argv.includes('--json') });
}
