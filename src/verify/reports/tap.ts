// TAP 13 and 14 (testanything.org) as printed by node --test, vitest, tap, tape, bats and others. Children stand before their parent
// with a deeper indent (TAP 14 and Node), or after it between braces (vitest).
import { broken, type ReaderInput, type ReportReader } from './report-input.ts';
import { nameTests } from './name-tests.ts';
import { isFilePoint, readTapDocument, type TapDocument, type TapPoint } from './tap-document.ts';
import { countNodes, leaves, type TreeNode } from './test-tree.ts';

const version = /^TAP version 1[34]\s*$/m;
const plan = /^1\.\.\d+/m;
const point = /^(?:not )?ok(?: |$)/m;

/** npm workspaces print one document after another. */
const documentsOf = (text: string): readonly string[] => {
  const parts = text.split(/^TAP version 1[34]\s*$/m);
  return parts.length === 1 ? parts : parts.slice(1);
};

const nodeOf = (tap: TapPoint, depth: number): TreeNode => {
  const isFile = depth === 0 && isFilePoint(tap);
  const outcome = tap.directive === undefined ? (tap.ok ? 'passed' : 'failed') : 'skipped';
  const said = isFile && tap.children.length === 0 ? [...tap.before, ...tap.diagnostic] : tap.diagnostic;
  return {
    name: tap.name,
    kind: isFile && (tap.children.length > 0 || tap.timed || !tap.ok) ? 'file' : tap.suite ? 'suite' : 'test',
    outcome,
    message: outcome === 'failed' && tap.failureType !== 'subtestsFailed' ? said.join('\n') : '',
    seenIn: tap.location,
    children: tap.children.map((child) => nodeOf(child, depth + 1)),
  };
};

/** Node's closing counts, against what was read. Older Nodes count top-level tests only and print no `suites` line. */
const contradiction = (document: TapDocument): string | undefined => {
  const tests = document.totals.get('tests');
  const suites = document.totals.get('suites');
  if (tests === undefined || suites === undefined) return undefined;
  const read = countNodes(document.points.map((tap) => nodeOf(tap, 0)));
  return read === tests + suites ? undefined : `its summary counts ${tests} tests and ${suites} suites, but ${read} entries were read`;
};

export const tapReader: ReportReader = {
  format: 'tap',
  recognises: ({ text }) => version.test(text) || (plan.test(text) && point.test(text)),
  read: ({ text, cwd }: ReaderInput) => {
    const documents = documentsOf(text).map((part) => readTapDocument(part.split('\n')));
    const why = documents.map((document) => document.broken ?? contradiction(document)).find((reason) => reason !== undefined);
    if (why !== undefined) return broken('tap', `The TAP report cannot be trusted: ${why}.`);
    const nodes = documents.flatMap((document) => document.points.map((tap) => nodeOf(tap, 0)));
    return { read: 'yes', format: 'tap', tests: nameTests(leaves(nodes), cwd) };
  },
};
