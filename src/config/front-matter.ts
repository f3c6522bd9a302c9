import type { Issue } from '../core/fault.ts';

export interface LoopFileParts {
  readonly front: string;
  /** Lines of the file before the front matter. */
  readonly linesBeforeFront: number;
  /** The instruction, LF line ends, without blank lines around it. */
  readonly body: string;
  /** Line of the file on which the body begins, from 1. */
  readonly bodyLine: number;
}

const fence = /^---[ \t]*$/;

/** Takes a loop file apart: YAML between two lines of `---`, then the instruction. A byte order mark and CRLF are accepted. */
export const splitLoopFile = (file: string, text: string): LoopFileParts | Issue => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const first = lines.findIndex((line) => line.trim() !== '');
  const start = lines[first];
  if (start === undefined || !fence.test(start))
    return {
      origin: { file, line: Math.max(1, first + 1), column: 1 },
      key: '',
      found: start === undefined ? 'an empty file' : 'no front matter',
      wanted: 'a line of --- , YAML, another line of --- , then the instruction to the agent',
    };
  const end = lines.findIndex((line, index) => index > first && fence.test(line));
  if (end === -1)
    return {
      origin: { file, line: first + 1, column: 1 },
      key: '',
      found: 'front matter that never ends',
      wanted: 'a line of --- below the YAML',
    };
  const body = lines.slice(end + 1);
  const blank = body.findIndex((line) => line.trim() !== '');
  return {
    front: lines.slice(first + 1, end).join('\n'),
    linesBeforeFront: first + 1,
    body: blank === -1 ? '' : body.slice(blank).join('\n').trimEnd(),
    bodyLine: end + 2 + Math.max(0, blank),
  };
};
