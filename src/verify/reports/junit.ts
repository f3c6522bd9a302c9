// JUnit XML, which has no standard but one shape: `testsuites > testsuite* > testcase`, a case red when it holds `failure` or `error`.
// Written by surefire, pytest, gotestsum, node, vitest, jest-junit and many others.
import { nameTests } from './name-tests.ts';
import { readJunitXml, type JunitSuite } from './junit-xml.ts';
import { broken, type ReaderInput, type ReportReader } from './report-input.ts';

const start = /<testsuites?[\s>/]/;

/** What a suite counts itself, against what was read below it. Only what no runner does on purpose is a contradiction. */
const contradiction = (suite: JunitSuite): string | undefined => {
  const said = `suite ${JSON.stringify(suite.name)} counts`;
  const red = suite.counts.failures + suite.counts.errors;
  if (red > 0 && suite.failed === 0) return `${said} ${red} failed tests, but none was read`;
  // pytest counts a test that passed and then failed in its teardown twice.
  if (suite.counts.tests - suite.counts.errors > suite.cases) return `${said} ${suite.counts.tests} tests, but ${suite.cases} were read`;
  return undefined;
};

export const junitReader: ReportReader = {
  format: 'junit',
  recognises: ({ text }) => start.test(text),
  read: ({ text, cwd }: ReaderInput) => {
    const xml = readJunitXml(text);
    if ('why' in xml) return broken('junit', `The JUnit report cannot be trusted: ${xml.why}.`);
    const why = xml.suites.map(contradiction).find((reason) => reason !== undefined);
    if (why !== undefined) return broken('junit', `The JUnit report contradicts itself: ${why}.`);
    return { read: 'yes', format: 'junit', tests: nameTests(xml.tests, cwd) };
  },
};
