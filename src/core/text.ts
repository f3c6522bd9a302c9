// Text that came from outside: cut with a note, cleaned of terminal codes, made fit for a name.

/** Bytes that `text` takes in UTF-8. */
export const utf8Bytes = (text: string): number => {
  let bytes = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
};

/**
 * Cuts a text to a number of letters and says so in the middle; head and tail are kept because a test report has its command at the
 * top and its summary at the end.
 * @param letters most UTF-16 units to keep, note not counted
 */
export const cutMiddle = (text: string, letters: number): string => {
  if (text.length <= letters) return text;
  const head = Math.ceil(letters * 0.6);
  const tail = letters - head;
  const left = text.length - letters;
  return `${text.slice(0, head).toWellFormed()}\n[... ${left} characters cut by Gyre ...]\n${tail === 0 ? '' : text.slice(-tail).toWellFormed()}`;
};

// CSI, OSC and two-byte escapes (ECMA-48), then other control characters but tab and line feed.
// oxlint-disable-next-line no-control-regex
const escapes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
// Overrides, embeddings and isolates of the bidirectional algorithm (UAX 9): they make a line read as what it is not.
const turns = /[\u202A-\u202E\u2066-\u2069]/g;

/** Plain text for people and prompts: no colour codes, no cursor moves, no turned direction, CRLF as LF. Other control characters become U+FFFD-free blanks. */
export const plainText = (text: string): string =>
  text.replace(escapes, '').replace(/\r\n?/g, '\n').replace(controls, '').replace(turns, '');

/** The first line, cut to a length that fits a terminal row. */
export const oneLine = (text: string, letters = 120): string => {
  const line = plainText(text).replace(/\s+/g, ' ').trim();
  return line.length <= letters ? line : `${line.slice(0, letters - 1).toWellFormed()}…`;
};

/**
 * A piece of a branch or folder name: lower case, only `a-z 0-9 -`, never empty, never leading `-`, at most `letters` long.
 * Different texts may give the same slug; a caller that needs uniqueness adds a hash or a number.
 */
export const slug = (text: string, letters = 48): string => {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain.slice(0, letters).replace(/-+$/, '') || 'task';
};
