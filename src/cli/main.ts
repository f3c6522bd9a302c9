#!/usr/bin/env node
import './quiet.ts';
import { outliveReaders } from './print.ts';
import { buildProgram } from './program.ts';
import { exitWith } from './report-error.ts';

outliveReaders();
try {
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = exitWith(error, (line) => process.stderr.write(`${line}\n`));
}
