// The closing words of a check whose report has no known form: `1 passed, 1 failed`, `Ran 5 tests`, `3 passing`. They name no test, but
// they say how many ran, and a check that was green because fewer or none ran proves nothing (L2).

const passed = /\b(\d{1,9}) (?:passed|passing)\b/gi;
const failed = /\b(\d{1,9}) (?:failed|failing)\b/gi;
const ran = /\b(?:ran|executed) (\d{1,9}) tests?\b/gi;

const sum = (text: string, pattern: RegExp): number | undefined => {
  const found = [...text.matchAll(pattern)];
  return found.length === 0 ? undefined : found.reduce((total, match) => total + Number(match[1]), 0);
};

/**
 * How many tests a check says it ran; `undefined` when it does not say. A text that names failures alone does not: such a check is silent
 * about what passed, so its silence on a green run means nothing.
 */
export const testsCounted = (output: string): number | undefined => {
  const green = sum(output, passed);
  return green === undefined ? sum(output, ran) : green + (sum(output, failed) ?? 0);
};
