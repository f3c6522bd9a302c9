import { Rejection } from '../../src/core/fault.ts';
import { issueText, loadLoopText, type LoadedLoop } from '../../src/config/index.ts';

/** A loop file that loads, with more front matter lines. */
export const loopText = (front: string, body = 'Fix {{ task.title }}.'): string => `---\n${front}\n---\n${body}\n`;

export const minimal = 'discover: [{ tests: npm test }]';

export const load = (text: string, shared?: string): LoadedLoop =>
  loadLoopText({ name: 'fix', file: 'fix.md', text, shared: shared === undefined ? undefined : { file: 'gyre.yaml', text: shared } });

/** Issues of whatever is thrown, one line each; an empty list when nothing is. */
export const issuesOf = (act: () => unknown): readonly string[] => {
  try {
    act();
  } catch (error) {
    if (error instanceof Rejection) return error.issues.map(issueText);
    throw error;
  }
  return [];
};
