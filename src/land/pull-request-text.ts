import { issueOfTask } from '../connect/index.ts';
import { oneLine } from '../core/text.ts';
import type { LandRequest } from './port.ts';

const titleLetters = 200;

/** The line by which a pull request is known as that of a run. */
export const runLine = (run: string): string => `Gyre-Run: ${run}`;

/**
 * Title and body of a pull request: what it is for, what vouches for it, and the trailers that lead back to the run. Pure. Words of the
 * task's own text are in the title only, where they mention and link nothing.
 */
export const pullRequestText = (
  request: Pick<LandRequest, 'loop' | 'taskTitle' | 'taskKey' | 'run' | 'evidence'>,
  repository: string,
): { readonly title: string; readonly body: string } => {
  const loop = oneLine(request.loop, 64).replaceAll('`', '');
  const issue = issueOfTask(request.taskKey);
  const isHere = issue?.repository === repository.toLowerCase();
  const paragraphs = [
    // The words that close an issue when the pull request is merged.
    ...(isHere ? [`Closes #${issue.number}`] : []),
    `Made by Gyre, loop \`${loop}\`. Its checks passed on this change in a clean checkout; the evidence is named below by its SHA-256.`,
    `Task: \`${oneLine(request.taskKey, 300).replaceAll('`', "'")}\``,
    `${runLine(request.run)}\nGyre-Loop: ${loop}\nGyre-Evidence: ${request.evidence}`,
  ];
  const title = oneLine(request.taskTitle, titleLetters) || oneLine(request.taskKey, titleLetters);
  return { title: oneLine(`gyre(${oneLine(request.loop, 32)}): ${title}`, titleLetters), body: `${paragraphs.join('\n\n')}\n` };
};
