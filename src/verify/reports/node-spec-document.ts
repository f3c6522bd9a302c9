import type { TestOutcome } from '../../core/test-report.ts';
import { looksLikeFile } from './clean-paths.ts';
import type { TreeNode } from './test-tree.ts';

/** One report of the spec reporter; npm workspaces print several in a row. */
export interface SpecDocument {
  readonly nodes: readonly TreeNode[];
  /** `ℹ tests 3`, `ℹ suites 1` and so on. */
  readonly totals: ReadonlyMap<string, number>;
}

const entryLine = /^( *)([✔✖⚠﹣▶]) (.+)$/u;
const timedName = /^(.*) \(\d+(?:\.\d+)?ms\)( # .*)?$/;
const totalLine = /^ℹ (\w+) (\d+(?:\.\d+)?)$/;
const placeLine = /^test at (.+):\d+:\d+$/;
// Nothing longer is a line of this report; no pattern is tried on it.
const lineLetters = 20_000;

interface Failure {
  readonly file: string;
  readonly text: string;
}

/** The closing section: one block a failure, its name on the line after `test at <place>`. In order, by name. */
const readFailures = (lines: readonly string[]): Map<string, Failure[]> => {
  const failures = new Map<string, Failure[]>();
  for (let at = 0; at < lines.length; at += 1) {
    const place = (lines[at]?.length ?? 0) > lineLetters ? null : placeLine.exec(lines[at] ?? '');
    const heading = place === null ? null : entryLine.exec(lines[at + 1] ?? '');
    if (place === null || heading === null) continue;
    let end = at + 2;
    while (end < lines.length && (lines[end] === '' || (lines[end] ?? '').startsWith('  '))) end += 1;
    const text = lines.slice(at + 2, end).map((line) => line.slice(2));
    const name = nameOf(heading[3] ?? '').name;
    const same = failures.get(name) ?? [];
    failures.set(name, same);
    same.push({ file: place[1] ?? '', text: text.join('\n').trim() });
    at = end - 1;
  }
  return failures;
};

const nameOf = (rest: string): { readonly name: string; readonly timed: boolean; readonly directive: boolean } => {
  const timed = timedName.exec(rest);
  if (timed !== null) return { name: timed[1] ?? '', timed: true, directive: timed[2] !== undefined };
  const skipped = /^(.*) # (?:SKIP|TODO)$/.exec(rest);
  return { name: skipped?.[1] ?? rest, timed: false, directive: skipped !== null };
};

const outcomeOf = (mark: string, directive: boolean): TestOutcome =>
  directive || mark === '﹣' || mark === '⚠' ? 'skipped' : mark === '✖' ? 'failed' : 'passed';

/** Builds the tree of the marked lines. A parent opens with `▶ name` and closes with its own mark at the same indent. */
const readTree = (lines: readonly string[], failures: ReadonlyMap<string, readonly Failure[]>): TreeNode[] => {
  const top: TreeNode[] = [];
  const open: { readonly indent: number; readonly node: TreeNode }[] = [];
  const taken = new Map<string, number>();
  const nodesHere = (): TreeNode[] => open.at(-1)?.node.children ?? top;
  // What was printed since the last mark: of a file that never came to its tests, it is all there is to know.
  let printed: string[] = [];

  for (const line of lines) {
    const found = line.length > lineLetters ? null : entryLine.exec(line);
    if (found === null) {
      printed.push(line);
      continue;
    }
    const indent = (found[1] ?? '').length;
    const mark = found[2] ?? '';
    const { name, timed, directive } = nameOf(found[3] ?? '');
    if (mark === '▶' && !timed) {
      const node: TreeNode = { name, kind: 'suite', outcome: 'passed', message: '', seenIn: undefined, children: [] };
      nodesHere().push(node);
      open.push({ indent, node });
      continue;
    }
    // Only a cancelled test has no time, and it stands in the closing section; any other such line was printed by a test.
    if (!timed && !directive && !(mark === '✖' && failures.has(name))) continue;
    const parent = open.at(-1);
    const closes = parent !== undefined && parent.indent === indent && parent.node.name === name;
    const outcome = mark === '▶' ? 'passed' : outcomeOf(mark, directive);
    const used = taken.get(name) ?? 0;
    const failure = outcome === 'failed' ? failures.get(name)?.[used] : undefined;
    if (failure !== undefined) taken.set(name, used + 1);
    const before = outcome === 'failed' && indent === 0 && looksLikeFile(name) ? printed : [];
    const said = { outcome, message: [...before, failure?.text ?? ''].join('\n').trim(), seenIn: failure?.file };
    printed = [];
    if (closes) {
      Object.assign(parent.node, said);
      open.pop();
    } else nodesHere().push({ name, kind: 'test', ...said, children: [] });
  }
  return top;
};

/** Splits the lines into reports and reads each. Lines of no report are passed over. */
export const readSpecDocuments = (lines: readonly string[]): readonly SpecDocument[] => {
  const documents: SpecDocument[] = [];
  let from = 0;
  while (from < lines.length) {
    const counts = lines.findIndex((line, at) => at >= from && line.startsWith('ℹ tests '));
    if (counts === -1) break;
    const totals = new Map<string, number>();
    let at = counts;
    for (let total = totalLine.exec(lines[at] ?? ''); total !== null; total = totalLine.exec(lines[at] ?? '')) {
      totals.set(total[1] ?? '', Number(total[2]));
      at += 1;
    }
    const closing = lines.findIndex((line, index) => index >= at && isNextReport(lines, line, index));
    const end = closing === -1 ? lines.length : closing;
    documents.push({ nodes: readTree(lines.slice(from, counts), readFailures(lines.slice(at, end))), totals });
    from = end;
  }
  // Marks after the last counts: a report that broke off.
  const rest = readTree(lines.slice(from), new Map());
  return documents.length === 0 || rest.length > 0 ? [...documents, { nodes: rest, totals: new Map() }] : documents;
};

/** In the closing section a mark at the left edge follows its place; without one it begins another report. */
const isNextReport = (lines: readonly string[], line: string, index: number): boolean => {
  if (line.length > lineLetters || line.startsWith(' ') || !entryLine.test(line) || placeLine.test(lines[index - 1] ?? '')) return false;
  return line.startsWith('▶') || timedName.test(line);
};
