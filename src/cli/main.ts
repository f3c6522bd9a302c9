#!/usr/bin/env node
import './quiet.ts';
import { buildProgram } from './program.ts';
import { exitWith } from './report-error.ts';

try {
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = exitWith(error, (line) => process.stderr.write(`${line}\n`));
}
