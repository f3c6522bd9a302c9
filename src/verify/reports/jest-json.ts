// The JSON of jest (--json) and vitest (--reporter=json), which share one shape (jestjs.io: test result types). Other text may stand
// around it.
import { z } from 'zod';
import type { TestOutcome } from '../../core/test-report.ts';
import { nameTests, type FoundTest } from './name-tests.ts';
import { broken, type ReaderInput, type ReportReader } from './report-input.ts';

const assertionSchema = z.object({
  ancestorTitles: z.array(z.string()).default([]),
  title: z.string(),
  status: z.string(),
  failureMessages: z.array(z.string()).nullish(),
});
const fileSchema = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string().nullish(),
  assertionResults: z.array(assertionSchema),
});
const reportSchema = z.object({
  numTotalTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(fileSchema),
});

const total = /"numTotalTests"\s*:/;

/** The object that holds the key at `inside`, from its brace to the matching one; `undefined` if it never closes. */
const objectAround = (text: string, inside: number): string | undefined => {
  const start = text.lastIndexOf('{', inside);
  if (start === -1) return undefined;
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted) {
      if (letter === '\\') at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === '{') depth += 1;
    else if (letter === '}' && (depth -= 1) === 0) return text.slice(start, at + 1);
  }
  return undefined;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const outcomeOf = (status: string): TestOutcome => (status === 'passed' ? 'passed' : status === 'failed' ? 'failed' : 'skipped');

const testsOfFile = (file: z.infer<typeof fileSchema>): readonly FoundTest[] => {
  const tests = file.assertionResults.map((test) => ({
    file: file.name,
    path: [...test.ancestorTitles, test.title],
    outcome: outcomeOf(test.status),
    message: (test.failureMessages ?? []).join('\n'),
  }));
  // An import error or a failed hook: the file is red, none of its tests is.
  if (file.status !== 'failed' || tests.some((test) => test.outcome === 'failed')) return tests;
  return [...tests, { file: file.name, path: [], outcome: 'failed', message: file.message ?? '' }];
};

const readOne = (text: string): { readonly tests: readonly FoundTest[] } | { readonly why: string } => {
  const report = reportSchema.safeParse(parse(text));
  if (!report.success) return { why: `it does not have the expected shape (${report.error.issues[0]?.path.join('.') || 'not JSON'})` };
  const { testResults, numTotalTests, numFailedTests } = report.data;
  const tests = testResults.flatMap(testsOfFile);
  const named = testResults.flatMap((file) => file.assertionResults);
  if (named.length !== numTotalTests) return { why: `it counts ${numTotalTests} tests, but ${named.length} were read` };
  const failed = named.filter((test) => test.status === 'failed').length;
  if (failed !== numFailedTests) return { why: `it counts ${numFailedTests} failed tests, but ${failed} were read` };
  return { tests };
};

export const jestJsonReader: ReportReader = {
  format: 'jest-json',
  recognises: ({ text }) => total.test(text),
  read: ({ text, cwd }: ReaderInput) => {
    const found: FoundTest[] = [];
    let from = 0;
    // Workspaces print one report after another.
    for (let next = text.slice(from).search(total); next !== -1; next = text.slice(from).search(total)) {
      const body = objectAround(text, from + next);
      const one = body === undefined ? { why: 'its JSON breaks off' } : readOne(body);
      if ('why' in one) return broken('jest-json', `The JSON report of jest or vitest cannot be trusted: ${one.why}.`);
      found.push(...one.tests);
      from = text.lastIndexOf('{', from + next) + (body?.length ?? 1);
    }
    if (from === 0) return broken('jest-json', 'The JSON report of jest or vitest is missing.');
    return { read: 'yes', format: 'jest-json', tests: nameTests(found, cwd) };
  },
};
