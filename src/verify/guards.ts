import type { GuardFinding } from '../core/verdict.ts';
import type { Candidate } from '../workspace/index.ts';
import { matcher } from './glob-matcher.ts';

/** Most paths named in one sentence; the finding itself lists all. */
const pathsInSentence = 5;

const named = (paths: readonly string[]): string => {
  const shown = paths.slice(0, pathsInSentence).map((file) => JSON.stringify(file));
  return paths.length > pathsInSentence ? `${shown.join(', ')} and ${paths.length - pathsInSentence} more` : shown.join(', ');
};

/** Guards over the diff alone. Pure. */
export const guardDiff = (candidate: Candidate, protect: readonly string[]): readonly GuardFinding[] => {
  const findings: GuardFinding[] = [];
  if (candidate.changed.length === 0) {
    const sentence = 'The attempt changed nothing: the candidate has the same files as the base.';
    findings.push({ guard: 'empty-change', weight: 'refuse', paths: [], sentence });
  }
  const paths = candidate.changed.filter(matcher(protect));
  if (paths.length > 0) {
    const sentence = `Protected files were changed: ${named(paths)}.`;
    findings.push({ guard: 'protected-file', weight: 'refuse', paths, sentence });
  }
  const moved = candidate.movedRefs ?? [];
  if (moved.length > 0) findings.push({ guard: 'moved-refs', weight: 'refuse', paths: [], sentence: moved.join(' ') });
  if (candidate.unfinished !== '') {
    const sentence = `The agent left a git operation half done: ${candidate.unfinished}.`;
    findings.push({ guard: 'unfinished-git-operation', weight: 'refuse', paths: [], sentence });
  }
  return findings;
};

/** Says which files that define checks were changed. The pinned run judges the change, so this alone refuses nothing. */
export const guardGates = (paths: readonly string[]): readonly GuardFinding[] => {
  if (paths.length === 0) return [];
  const sentence = `Files that define a check were changed: ${named(paths)}. The check also ran with them as on base.`;
  return [{ guard: 'gate-definition', weight: 'note', paths, sentence }];
};
