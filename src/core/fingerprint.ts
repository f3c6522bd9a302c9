// The same failure, seen through the noise of another run: times, temporary paths, line numbers, addresses, process numbers.

const rules: readonly (readonly [RegExp, string])[] = [
  // ISO times before plain numbers, so that a date is one mark.
  [/\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g, '<time>'],
  [/\b\d{1,2}:\d{2}:\d{2}(?:\.\d+)?\b/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b0x[0-9a-f]+\b/gi, '<address>'],
  [/\b[0-9a-f]{12,64}\b/g, '<hash>'],
  // A folder that changes per run: everything of an absolute path but its last name.
  [/(?:file:\/\/)?(?:\/[^\s/:()'"`<>]+)+\/([^\s/:()'"`<>]+)/g, '<path>/$1'],
  [/:\d+:\d+\b/g, ':<line>'],
  [/:\d+\b/g, ':<line>'],
  [/\bline \d+\b/gi, 'line <line>'],
  [/\b\d+(?:\.\d+)?\s?(?:ms|µs|ns|s|sec|seconds|minutes|m)\b/g, '<duration>'],
  [/\b(?:duration_ms|time|pid|process)\b\s*[:=]?\s*\d+(?:\.\d+)?/gi, '<measure>'],
];

/**
 * Normal form of a failure text: two runs of the same failure give the same form. Numbers that are part of an assertion
 * (`expected 3, got 4`) stay, because they tell failures apart.
 */
export const normaliseFailure = (text: string): string => {
  let form = text;
  for (const [pattern, mark] of rules) form = form.replace(pattern, mark);
  return form
    .replace(/[ \t]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
};
