import { matcher } from './glob-matcher.ts';

// Files by which a candidate could grade itself, whatever a loop's `protect` says: they stand as on base in the pinned run.

const tests: readonly string[] = [
  '**/test/**',
  '**/tests/**',
  '**/spec/**',
  '**/__tests__/**',
  '**/testdata/**',
  '**/*.test.*',
  '**/*.spec.*',
  '**/test_*.py',
  '**/*_test.py',
  '**/*_test.go',
  '**/*_test.rb',
  '**/*_spec.rb',
  '**/*_test.rs',
  '**/*Test.java',
  '**/*Tests.java',
  '**/*IT.java',
  '**/*Test.kt',
  '**/*Tests.cs',
  '**/*Test.php',
  '**/*_test.exs',
];

const support: readonly string[] = [
  '**/__snapshots__/**',
  '**/*.snap',
  '**/__mocks__/**',
  '**/conftest.py',
  '**/sitecustomize.py',
  '**/spec_helper.rb',
  '**/vitest.config.*',
  '**/vitest.workspace.*',
  '**/vitest.setup.*',
  '**/jest.config.*',
  '**/jest.setup.*',
  '**/playwright.config.*',
  '**/cypress.config.*',
  '**/karma.conf.*',
  '**/.mocharc.*',
  '**/ava.config.*',
  '**/.nycrc*',
  '**/.c8rc*',
  '**/.taprc',
  '**/pytest.ini',
  '**/.pytest.ini',
  '**/tox.ini',
  '**/noxfile.py',
  '**/.coveragerc',
  '**/.rspec',
  '**/phpunit.xml*',
];

/** Test code: may be added by the author of a change, and does not reach the tests beside it. */
export const isTestFile = matcher([...tests, ...support]);

/** Configuration, mocks, snapshots and set-up of tests: even a new one reaches tests that it does not contain. */
export const isTestSupport = matcher(support);
