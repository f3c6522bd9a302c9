import { testCodeGlobs, testSupportGlobs } from '../core/test-file-globs.ts';
import { matcher } from './glob-matcher.ts';

// Files by which a candidate could grade itself, whatever a loop's `protect` says: they stand as on base in the pinned run.

/** Test code: may be added by the author of a change, and does not reach the tests beside it. */
export const isTestFile = matcher([...testCodeGlobs, ...testSupportGlobs]);

/** Configuration, mocks, snapshots and set-up of tests: even a new one reaches tests that it does not contain. */
export const isTestSupport = matcher(testSupportGlobs);
