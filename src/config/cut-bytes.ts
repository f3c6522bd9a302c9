import { cutMiddle, utf8Bytes } from '../core/text.ts';

/** The text, cut in its middle with a note if it takes more than so many bytes in UTF-8. The note itself is counted. */
export const cutBytes = (text: string, bytesMax: number): string => {
  let cut = text;
  for (let letters = text.length; utf8Bytes(cut) > bytesMax && letters > 0;) {
    letters = Math.floor(Math.min(letters - 1, letters * (bytesMax / utf8Bytes(cut)) - 64));
    cut = letters > 0 ? cutMiddle(text, letters) : '';
  }
  return cut;
};
