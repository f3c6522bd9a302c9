// The text of `cargo test` (libtest's default output). One block a test binary on stdout; cargo names the binaries, in the same
// order, on stderr.
import { nameTests, type FoundTest } from './name-tests.ts';
import { broken, type ReaderInput, type ReportReader } from './report-input.ts';

const running = /^running (\d+) tests?$/;
const testLine = /^test (.+) \.\.\. (ok|FAILED|ignored(?:, .*)?|bench:.*)$/;
const resultLine = /^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured/;
const binaryLine = /^\s+Running (?:unittests )?(\S.*?) \((?:.*[/\\])?(.+?)-[0-9a-f]{16}(?:\.exe)?\)$/;
const docLine = /^\s+Doc-tests (\S+)$/;
const lineLetters = 20_000;

interface Binary {
  readonly file: string | undefined;
  readonly name: string;
}

interface Block {
  readonly expected: number;
  readonly tests: { readonly name: string; readonly said: string }[];
  readonly messages: Map<string, string>;
  /** passed, failed, ignored, measured; `undefined` when the block broke off. */
  counts: readonly number[] | undefined;
}

const binariesOf = (lines: readonly string[]): readonly Binary[] =>
  lines.flatMap((line): readonly Binary[] => {
    if (line.length > lineLetters) return [];
    const doc = docLine.exec(line);
    if (doc !== null) return [{ file: undefined, name: `${doc[1]} (doc)` }];
    const binary = binaryLine.exec(line);
    return binary === null ? [] : [{ file: binary[1], name: binary[2] ?? '' }];
  });

/** The section between `failures:` and the list of names: `---- name stdout ----`, then the output. */
const readMessages = (lines: readonly string[], into: Map<string, string>): void => {
  let name: string | undefined;
  let text: string[] = [];
  const close = (): void => {
    if (name !== undefined) into.set(name, text.join('\n').trim());
    text = [];
  };
  for (const line of lines) {
    const heading = line.length > lineLetters ? null : /^---- (.+) (?:stdout|stderr) ----$/.exec(line);
    if (heading === null) text.push(line);
    else {
      close();
      name = heading[1];
    }
  }
  close();
};

const readBlocks = (lines: readonly string[]): readonly Block[] => {
  const blocks: Block[] = [];
  let failuresFrom: number | undefined;
  for (const [at, line] of lines.entries()) {
    if (line.length > lineLetters) continue;
    const block = blocks.at(-1);
    const start = running.exec(line);
    if (start !== null && failuresFrom === undefined)
      blocks.push({ expected: Number(start[1]), tests: [], messages: new Map(), counts: undefined });
    if (block === undefined || block.counts !== undefined) continue;
    const result = resultLine.exec(line);
    if (result !== null) {
      block.counts = result.slice(1).map(Number);
      if (failuresFrom !== undefined) readMessages(messageLines(lines.slice(failuresFrom, at)), block.messages);
      failuresFrom = undefined;
    } else if (line === 'failures:') failuresFrom ??= at + 1;
    else if (failuresFrom === undefined) {
      const test = testLine.exec(line);
      if (test !== null) block.tests.push({ name: test[1] ?? '', said: test[2] ?? '' });
    }
  }
  return blocks;
};

/** Without the closing list of names. */
const messageLines = (lines: readonly string[]): readonly string[] => {
  const list = lines.lastIndexOf('failures:');
  return list === -1 ? lines : lines.slice(0, list);
};

const contradiction = (block: Block): string | undefined => {
  if (block.counts === undefined) return 'a test binary ended without its result line (it may have crashed)';
  const read = [
    block.tests.filter((test) => test.said === 'ok').length,
    block.tests.filter((test) => test.said === 'FAILED').length,
    block.tests.filter((test) => test.said.startsWith('ignored')).length,
    block.tests.filter((test) => test.said.startsWith('bench')).length,
  ];
  if (read.join() !== block.counts.join() || block.tests.length !== block.expected)
    return `a result line counts ${block.counts.slice(0, 3).join(', ')} (passed, failed, ignored), but ${read.slice(0, 3).join(', ')} were read`;
  return undefined;
};

const testsOf = (block: Block, binary: Binary | undefined): readonly FoundTest[] =>
  block.tests.map(({ name, said }) => ({
    file: binary?.file,
    // A documentation test is named by its line, which moves with every edit above it.
    path: [...(binary === undefined ? [] : [binary.name]), name.replace(/ - should panic$/, '').replace(/ \(line \d+\)/, '')],
    outcome: said === 'FAILED' ? 'failed' : said.startsWith('ignored') ? 'skipped' : 'passed',
    message: block.messages.get(name) ?? '',
  }));

const compileFailure = /^error: could not compile `([^`\n]+)`/gm;
const errorPlace = /^error[^\n]*\n *--> ([^\n]+):\d+:\d+$/m;

/** Code that does not compile: one failed entry a crate, named by the first file in error, as an import error is, or by the crate alone. */
const compileErrors = (stderr: string): readonly FoundTest[] => {
  const crates = new Set([...stderr.matchAll(compileFailure)].map((match) => match[1] ?? ''));
  return [...crates].map((crate, index) => {
    const file = index === 0 ? errorPlace.exec(stderr)?.[1] : undefined;
    return { file: file ?? crate, path: [], outcome: 'failed', message: stderr };
  });
};

export const cargoReader: ReportReader = {
  format: 'cargo',
  recognises: ({ text, stderr }) =>
    (/^running \d+ tests?$/m.test(text) && /^test (?:result: |.{1,2000} \.\.\. )/m.test(text)) ||
    /^error: could not compile `/m.test(stderr),
  read: ({ text, stderr, cwd }: ReaderInput) => {
    const blocks = readBlocks(text.split('\n'));
    const compile = compileErrors(stderr === '' ? text : stderr);
    const why = blocks.map(contradiction).find((reason) => reason !== undefined);
    if (why !== undefined) return broken('cargo', `The report of cargo test cannot be trusted: ${why}.`);
    if (blocks.length === 0 && compile.length === 0) return broken('cargo', 'The report of cargo test is missing.');
    const binaries = binariesOf((stderr.includes('Running ') || stderr.includes('Doc-tests ') ? stderr : text).split('\n'));
    // A binary without libtest prints no block; then no block can be given to a binary, and names stand alone.
    const named = binaries.length === blocks.length;
    const found = blocks.flatMap((block, index) => testsOf(block, named ? binaries[index] : undefined));
    return { read: 'yes', format: 'cargo', tests: nameTests([...found, ...compile], cwd) };
  },
};
