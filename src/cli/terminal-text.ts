import { StringDecoder } from 'node:string_decoder';
import { plainText } from '../core/text.ts';

/** One endless line must not grow without bound. */
const longestLine = 65_536;

/** Prints bytes as text a terminal can take, line by line: letters stay whole, control codes go (L12). */
export const terminalPrinter = (): ((chunk: Uint8Array) => void) => {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk) => {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) {
      lines.push(rest);
      rest = '';
    }
    for (const one of lines) process.stdout.write(`${plainText(one)}\n`);
  };
};
