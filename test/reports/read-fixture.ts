import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readTestReport } from '../../src/verify/reports/index.ts';
import type { TestReport } from '../../src/core/test-report.ts';

const folder = path.join(import.meta.dirname, 'fixtures');

export const fixture = (name: string): string => readFileSync(path.join(folder, name), 'utf8');

/** Reads a recorded output as the check that printed it would. */
export const readFixture = (name: string, cwd: string, stderr = ''): TestReport =>
  readTestReport({ stdout: fixture(name), stderr: stderr === '' ? '' : fixture(stderr), cwd });

/** `passed <id>` a line, for comparing whole reports at a glance. */
export const outcomes = (report: TestReport): readonly string[] =>
  report.read === 'yes'
    ? report.tests.map((test) => `${test.outcome} ${test.id}`)
    : [report.read, ...(report.read === 'broken' ? [report.why] : [])];

export const messageOf = (report: TestReport, id: string): string =>
  (report.read === 'yes' ? report.tests.find((test) => test.id === id)?.message : undefined) ?? `(no test ${id})`;

/** The report of one stream of text. */
export const readText = (stdout: string, cwd = '/project'): TestReport => readTestReport({ stdout, stderr: '', cwd });
