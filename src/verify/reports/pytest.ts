// The text of pytest. Which tests are named depends on its options: `-v` and `-rA` name all, the default names the red ones only.
// The closing line counts them, so tests that passed without a name are known by number and listed as `(unnamed test)`.
import { unnamedTest } from '../../core/test-report.ts';
import { nameTests, type FoundTest } from './name-tests.ts';
import { readFailureSections } from './pytest-sections.ts';
import { broken, type ReaderInput, type ReportReader } from './report-input.ts';

const header = /^=+ test session starts =+$/m;
const countWord = '\\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests passed)';
const summaryPattern = `^=* ?(?:no tests ran|no tests collected|${countWord}(?:, ${countWord})*) in \\d[^\\n=]{0,40}=*$`;
const anySummary = new RegExp(summaryPattern, 'm');
const summaryLine = new RegExp(summaryPattern);
const shortLine = /^(PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED) (.+)$/;
const verboseEnd = / (PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED)(?: \([^()]{0,500}\))?$/;
const parallelLine = /^\[gw\d+\] (?:\[ *\d+%\] )?(PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED) (.+)$/;
const lineLetters = 20_000;

type Word = 'PASSED' | 'FAILED' | 'ERROR' | 'XFAIL' | 'XPASS' | 'SKIPPED';
interface Named {
  readonly word: Word;
  readonly node: string;
}

/** `path::name[a - b] - message` gives the part before the message. Parameters may hold ` - ` themselves. */
const nodeOf = (rest: string): string => {
  const dash = rest.indexOf(' - ');
  if (dash === -1) return rest;
  const bracket = rest.indexOf('[');
  if (bracket === -1 || bracket > dash) return rest.slice(0, dash);
  const end = rest.indexOf('] - ', bracket);
  if (end !== -1) return rest.slice(0, end + 1);
  return rest.endsWith(']') ? rest : rest.slice(0, dash);
};

const namedBy = (raw: string): Named | undefined => {
  if (raw.length > lineLetters) return undefined;
  const line = raw.trimEnd();
  const short = shortLine.exec(line);
  // `SKIPPED [2] file:9: why` names a place, no test; `ERROR file` a file.
  if (short !== null && !(short[2] ?? '').startsWith('[')) return { word: short[1] as Word, node: nodeOf(short[2] ?? '') };
  const parallel = parallelLine.exec(line);
  if (parallel !== null) return { word: parallel[1] as Word, node: parallel[2] ?? '' };
  const progress = line.endsWith('%]') ? line.slice(0, line.lastIndexOf('[')).trimEnd() : line;
  const verbose = progress.includes('::') ? verboseEnd.exec(progress) : null;
  return verbose === null || progress.startsWith(' ') ? undefined : { word: verbose[1] as Word, node: progress.slice(0, verbose.index) };
};

const countsOf = (line: string): ReadonlyMap<string, number> =>
  new Map([...line.matchAll(/(\d+) ([a-z]+)/g)].map((match) => [(match[2] ?? '').replace(/s$/, ''), Number(match[1])]));

/** `tests/a.py::Group::test[x::y]` split at the colons outside the parameters. */
const partsOf = (node: string): readonly string[] => {
  const bracket = node.indexOf('[');
  const parts = node.slice(0, bracket === -1 ? undefined : bracket).split('::');
  return bracket === -1 ? parts : [...parts.slice(0, -1), `${parts.at(-1) ?? ''}${node.slice(bracket)}`];
};

const outcomes: Record<Word, FoundTest['outcome']> = {
  PASSED: 'passed',
  XPASS: 'passed',
  FAILED: 'failed',
  ERROR: 'failed',
  XFAIL: 'skipped',
  SKIPPED: 'skipped',
};

/** One entry a test: named several times (progress, summary, a teardown error after a pass) it is red if it is red anywhere. */
const merge = (named: readonly Named[]): ReadonlyMap<string, FoundTest['outcome']> => {
  const merged = new Map<string, FoundTest['outcome']>();
  for (const { word, node } of named) if (merged.get(node) !== 'failed') merged.set(node, outcomes[word]);
  return merged;
};

const distinct = (named: readonly Named[], word: Word): number =>
  new Set(named.filter((entry) => entry.word === word).map((entry) => entry.node)).size;

const readOne = (lines: readonly string[], summary: string): { readonly tests: readonly FoundTest[] } | { readonly why: string } => {
  const counts = countsOf(summary);
  const sections = readFailureSections(lines);
  const named = lines.filter((_, at) => !sections.inside(at)).flatMap((line) => namedBy(line) ?? []);
  for (const [word, count] of [
    ['FAILED', counts.get('failed') ?? 0],
    ['ERROR', counts.get('error') ?? 0],
  ] as const) {
    const read = distinct(named, word);
    if (read !== count)
      return { why: `it counts ${count} ${word === 'FAILED' ? 'failed tests' : 'errors'}, but names ${read} (run pytest with -rA)` };
  }
  const tests: FoundTest[] = [...merge(named)].map(([node, outcome]) => {
    const [file, ...path] = partsOf(node);
    return { file, path, outcome, message: outcome === 'failed' ? sections.messageOf(file ?? '', path.join('.')) : '' };
  });
  const passed = (counts.get('passed') ?? 0) + (counts.get('xpassed') ?? 0);
  const unnamed = passed - distinct(named, 'PASSED') - distinct(named, 'XPASS');
  for (let left = unnamed; left > 0; left -= 1) tests.push({ file: undefined, path: [unnamedTest], outcome: 'passed', message: '' });
  return { tests };
};

export const pytestReader: ReportReader = {
  format: 'pytest',
  recognises: ({ text }) => header.test(text) || anySummary.test(text),
  read: ({ text, cwd }: ReaderInput) => {
    const found: FoundTest[] = [];
    let lines: string[] = [];
    let sessions = 0;
    for (const line of text.split('\n')) {
      if (line.length > lineLetters || !summaryLine.test(line)) {
        lines.push(line);
        continue;
      }
      const one = readOne(lines, line);
      if ('why' in one) return broken('pytest', `The report of pytest cannot be trusted: ${one.why}.`);
      found.push(...one.tests);
      sessions += 1;
      lines = [];
    }
    const cutOff = lines.some((line) => header.test(line));
    if (sessions === 0 || cutOff) return broken('pytest', 'The report of pytest breaks off: its closing line is missing.');
    return { read: 'yes', format: 'pytest', tests: nameTests(found, cwd) };
  },
};
