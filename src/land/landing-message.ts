import { oneLine } from '../core/text.ts';
import type { LandRequest } from './port.ts';

const subjectLetters = 72;

/**
 * Message of a landed commit: subject, the title in full where the subject cut it, and the trailers that lead back to the run. The
 * form is that of git-interpret-trailers: last paragraph, `Key: value`.
 */
export const landingMessage = (request: Pick<LandRequest, 'loop' | 'taskTitle' | 'taskKey' | 'run' | 'evidence'>): string => {
  const title = oneLine(request.taskTitle, 500) || oneLine(request.taskKey, 500);
  const whole = `gyre(${oneLine(request.loop, 32)}): ${title}`;
  const subject = oneLine(whole, subjectLetters);
  const paragraphs = [subject];
  if (subject !== whole) paragraphs.push(title);
  paragraphs.push(`Task: ${oneLine(request.taskKey, 500)}`);
  paragraphs.push(`Gyre-Run: ${request.run}\nGyre-Loop: ${oneLine(request.loop)}\nGyre-Evidence: ${request.evidence}`);
  return `${paragraphs.join('\n\n')}\n`;
};
