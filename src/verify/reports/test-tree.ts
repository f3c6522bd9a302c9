import type { TestOutcome } from '../../core/test-report.ts';
import type { FoundTest } from './name-tests.ts';

/** One entry of a nested report. */
export interface TreeNode {
  name: string;
  kind: 'file' | 'suite' | 'test';
  outcome: TestOutcome;
  /** What this entry says of its own failure; empty when it fails only because something inside it does. */
  message: string;
  /** File of the failure, where the runner names it for failures only. */
  seenIn: string | undefined;
  children: TreeNode[];
}

export const countNodes = (nodes: readonly TreeNode[]): number => nodes.reduce((sum, node) => sum + 1 + countNodes(node.children), 0);

const leavesOf = (node: TreeNode, file: string | undefined, path: readonly string[]): readonly FoundTest[] => {
  const ownFile = node.kind === 'file' ? node.name : file;
  const ownPath = node.kind === 'file' ? path : [...path, node.name];
  const self: FoundTest = { file: ownFile, path: ownPath, outcome: node.outcome, message: node.message, seenIn: node.seenIn };
  if (node.children.length === 0) return node.kind === 'test' || node.outcome === 'failed' ? [self] : [];
  const inside = node.children.flatMap((child) => leavesOf(child, ownFile, ownPath));
  if (node.outcome !== 'failed') return inside;
  if (!inside.some((test) => test.outcome === 'failed')) return [...inside, self];
  // A hook that failed cancels the tests below it: the reason stands at the suite, the red at the tests.
  return inside.map((test) =>
    test.outcome === 'failed' && node.message !== '' ? { ...test, message: `${test.message}\n${node.message}` } : test,
  );
};

/** The tests of a tree: its leaves, and every suite or file that fails although nothing in it does (a hook, an import). */
export const leaves = (nodes: readonly TreeNode[]): readonly FoundTest[] => nodes.flatMap((node) => leavesOf(node, undefined, []));
