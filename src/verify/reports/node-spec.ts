// Node's `spec` reporter, which Node 23 and newer print also into a pipe. It is written for people: nesting by two blanks, a mark
// before each name, the time after it, the counts at the end, then every failure once more with its place and its error.
import { looksLikeFile } from './clean-paths.ts';
import { nameTests } from './name-tests.ts';
import { broken, type ReaderInput, type ReportReader } from './report-input.ts';
import { readSpecDocuments, type SpecDocument } from './node-spec-document.ts';
import { countNodes, leaves, type TreeNode } from './test-tree.ts';

const summary = /^ℹ tests \d+$/m;
// The mark and a time with decimals at the left edge: other reporters that use these marks round the time.
const entry = /^[✔✖] [^\n]{1,2000} \(\d+\.\d+ms\)$/m;

/** Node lists a file without tests, or one that ended before its tests could speak, as if the file were a test. */
const withFiles = (nodes: readonly TreeNode[]): readonly TreeNode[] =>
  nodes.map((node) => {
    const named =
      node.children.length > 0 || node.seenIn === undefined || node.name === node.seenIn || node.name.endsWith(`/${node.seenIn}`);
    return looksLikeFile(node.name) && named ? { ...node, kind: 'file' } : node;
  });

const contradiction = (document: SpecDocument): string | undefined => {
  const tests = document.totals.get('tests');
  if (tests === undefined) return 'its summary is missing, so it broke off';
  const suites = document.totals.get('suites');
  if (suites === undefined) return undefined;
  const read = countNodes(document.nodes);
  return read === tests + suites ? undefined : `its summary counts ${tests} tests and ${suites} suites, but ${read} entries were read`;
};

export const nodeSpecReader: ReportReader = {
  format: 'node-spec',
  recognises: ({ text }) => summary.test(text) || entry.test(text),
  read: ({ text, cwd }: ReaderInput) => {
    const documents = readSpecDocuments(text.split('\n'));
    const why = documents.map(contradiction).find((reason) => reason !== undefined);
    if (why !== undefined) return broken('node-spec', `The report of node --test cannot be trusted: ${why}.`);
    // An empty suite is marked like a test that passed; the counts tell when there was no test at all.
    const nodes = documents.flatMap((document) => (document.totals.get('tests') === 0 ? [] : withFiles(document.nodes)));
    return { read: 'yes', format: 'node-spec', tests: nameTests(leaves(nodes), cwd) };
  },
};
