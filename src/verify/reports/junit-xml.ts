import { SaxesParser } from 'saxes';
import { looksLikeFile } from './clean-paths.ts';
import type { FoundTest } from './name-tests.ts';

export interface JunitSuite {
  readonly name: string;
  /** As the file says; 0 where it says nothing. */
  readonly counts: { readonly tests: number; readonly failures: number; readonly errors: number };
  /** As read, suites inside included. */
  cases: number;
  failed: number;
}

type Attributes = Readonly<Record<string, string>>;
export type JunitXml = { readonly suites: readonly JunitSuite[]; readonly tests: readonly FoundTest[] } | { readonly why: string };

interface OpenCase {
  readonly attributes: Attributes;
  outcome: FoundTest['outcome'];
  message: string;
}

// Surefire writes colour codes as references to characters that XML 1.0 forbids.
const forbidden = /&#(?:x(?:0?[0-8bcef]|1[0-9a-f])|[0-8]|1[124-9]|2\d|3[01]);/gi;

/** The report without what stands around it, any number of documents, in one root. */
const rooted = (text: string): string => {
  const from = text.search(/<testsuites?[\s>/]/);
  const close = Math.max(text.lastIndexOf('</testsuites>'), text.lastIndexOf('</testsuite>'));
  const closed = close === -1 ? text.lastIndexOf('/>') + 1 : text.indexOf('>', close);
  const body = text.slice(from, closed <= 0 ? undefined : closed + 1);
  return `<report>${body
    .replace(/<\?xml[^>]*\?>/g, '')
    .replace(/<!DOCTYPE[^>]*>/g, '')
    .replace(forbidden, '')}</report>`;
};

const oneSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();
const number = (text: string | undefined): number => Number(text ?? 0) || 0;

const suiteOf = (attributes: Attributes): JunitSuite => ({
  name: attributes['name'] ?? '',
  counts: { tests: number(attributes['tests']), failures: number(attributes['failures']), errors: number(attributes['errors']) },
  cases: 0,
  failed: 0,
});

/** File and path of a case. A class name that repeats the suite, or is Node's constant `test`, says nothing of its own. */
const placeOf = (attributes: Attributes, suites: readonly string[]): Pick<FoundTest, 'file' | 'path'> & { readonly isFile: boolean } => {
  const name = attributes['name'] ?? '';
  const className = attributes['classname'] ?? '';
  const generic = className === '' || className === 'test' || suites.includes(className) || className === suites.join('.');
  // A module that pytest could not import is a case of no class, named like the class of the tests inside.
  const isModule = className === '' && suites.length === 1 && suites[0] === 'pytest';
  const around = isModule ? [] : generic ? suites : [className];
  const first = around[0] ?? '';
  const inFile = first.includes('/') && looksLikeFile(first);
  const file = attributes['file'] ?? (inFile ? first : undefined);
  const isFile = looksLikeFile(name) && (file === undefined ? className === 'test' : file === name || file.endsWith(`/${name}`));
  if (isFile) return { file: file ?? name, path: [], isFile };
  return { file, path: [...(inFile ? around.slice(1) : around).filter((suite) => suite !== ''), name], isFile };
};

const key = (path: readonly string[]): string => path.join('\n');

/** Subtests of Go are cases named `Parent/child`: a parent is red by its children and is not a test of its own. */
const splitGoNames = (tests: readonly FoundTest[]): readonly FoundTest[] => {
  const parents = new Set<string>();
  const split = tests.map((test) => ({ ...test, path: [...test.path.slice(0, -1), ...(test.path.at(-1) ?? '').split('/')] }));
  for (const { path } of split) for (let depth = 2; depth < path.length; depth += 1) parents.add(key(path.slice(0, depth)));
  return split.filter((test) => !parents.has(key(test.path)));
};

/** Reads the cases of a JUnit report in order. Time is linear in the text. */
export const readJunitXml = (text: string): JunitXml => {
  const suites: JunitSuite[] = [];
  const open: JunitSuite[] = [];
  const tests: FoundTest[] = [];
  let goFrom: number | undefined;
  let current: OpenCase | undefined;
  let detail: string[] | undefined;
  let problem: string | undefined;

  const fail = (path: readonly string[], message: string): void => {
    for (const suite of open) suite.failed += 1;
    tests.push({ file: undefined, path, outcome: 'failed', message });
  };
  const closeCase = ({ attributes, outcome, message }: OpenCase): void => {
    const names = open.map((suite) => suite.name);
    for (const suite of open) {
      suite.cases += 1;
      if (outcome === 'failed') suite.failed += 1;
    }
    const { file, path, isFile } = placeOf(attributes, names);
    // Node lists a file without tests as a case that passed.
    if (!isFile || outcome !== 'passed') tests.push({ file, path, outcome, message });
  };

  const parser = new SaxesParser({ xmlns: false });
  // The first error ends the reading: the parser would go on and report one at every letter.
  parser.on('error', (error) => {
    problem ??= `it is not whole XML (${error.message})`;
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'testsuite') {
      const suite = suiteOf(attributes);
      suites.push(suite);
      open.push(suite);
    } else if (name === 'testcase') {
      const idle = ['notrun', 'disabled', 'skipped'].includes(attributes['status'] ?? '');
      current = { attributes, outcome: idle ? 'skipped' : 'passed', message: '' };
    } else if (name === 'failure' || name === 'error') {
      detail = [attributes['message'] ?? '', ''];
      // Node marks a failing todo with both, and a todo may fail.
      if (current?.outcome === 'passed') current.outcome = 'failed';
    } else if (name === 'skipped' && current !== undefined) current.outcome = 'skipped';
    else if (name === 'property' && attributes['name'] === 'go.version') goFrom ??= tests.length;
  });
  const addText = (piece: string): void => {
    if (detail !== undefined) detail.push(piece);
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', ({ name }) => {
    if ((name === 'failure' || name === 'error') && detail !== undefined) {
      const [summary = '', ...rest] = detail;
      const body = rest.join('').trim();
      const message = oneSpace(body).includes(oneSpace(summary)) ? body : `${summary}\n${body}`;
      if (current === undefined)
        fail(
          open.map((suite) => suite.name),
          message,
        );
      else current.message += `${current.message === '' ? '' : '\n'}${message}`;
      detail = undefined;
    } else if (name === 'testcase' && current !== undefined) {
      closeCase(current);
      current = undefined;
    } else if (name === 'testsuite') open.pop();
  });
  try {
    parser.write(rooted(text)).close();
  } catch (error) {
    if (problem === undefined) throw error;
  }
  if (problem !== undefined) return { why: problem };
  return { suites, tests: goFrom === undefined ? tests : [...tests.slice(0, goFrom), ...splitGoNames(tests.slice(goFrom))] };
};
