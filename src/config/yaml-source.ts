import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node, type YAMLError } from 'yaml';
import type { Issue, Origin } from '../core/fault.ts';
import { oneLine } from '../core/text.ts';
import { yamlAliasCount } from './limits.ts';

export type Path = readonly (string | number)[];

/** A YAML text as plain data that still knows where everything stands. */
export interface YamlSource {
  readonly file: string;
  /** Plain data; `undefined` when the text could not be read at all. */
  readonly data: unknown;
  readonly issues: readonly Issue[];
  /** Where the key or the value at the end of a path stands; of its nearest existing parent, if it does not exist. */
  readonly originOf: (path: Path, part: 'key' | 'value') => Origin;
}

const wantedOf: Partial<Record<YAMLError['code'], string>> = {
  DUPLICATE_KEY: 'each key once',
  TAB_AS_INDENT: 'spaces',
  MULTIPLE_DOCS: 'one YAML document',
  NON_STRING_KEY: 'a text as key',
  RESOURCE_EXHAUSTION: 'a few levels of lists and maps',
};
const foundOf: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'a tab as indentation',
  MULTIPLE_DOCS: 'a second document',
  RESOURCE_EXHAUSTION: 'lists or maps nested too deeply',
};

/** Offset in the text of the node at the end of a path. */
const offsetOf = (document: Document, path: Path, part: 'key' | 'value'): number | undefined => {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const wantsKey = part === 'key' && index === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === step);
      if (pair === undefined) return offset;
      const key = (pair.key as Node).range?.[0];
      node = pair.value;
      offset = wantsKey ? key : ((node as Node | null)?.range?.[0] ?? key);
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
};

/**
 * Reads one YAML document of the core schema with text keys. Never throws: what is wrong is in `issues`.
 * @param linesBefore lines of the file that stand before `text`
 */
export const readYaml = ({
  file,
  text,
  linesBefore = 0,
}: {
  readonly file: string;
  readonly text: string;
  readonly linesBefore?: number;
}): YamlSource => {
  const lines = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, stringKeys: true, logLevel: 'error', uniqueKeys: true });
  const originAt = (offset: number | undefined): Origin => {
    if (offset === undefined) return { file, line: linesBefore + 1, column: 1 };
    const { line, col } = lines.linePos(offset);
    return { file, line: line + linesBefore, column: col };
  };
  const issues: Issue[] = [...document.errors, ...document.warnings].map((problem) => {
    const key = problem.code === 'DUPLICATE_KEY' ? (/^[^\s:]+/.exec(text.slice(problem.pos[0]))?.[0] ?? '') : '';
    return {
      origin: originAt(problem.pos[0]),
      key,
      found: foundOf[problem.code] ?? (key === '' ? `bad YAML: ${oneLine(problem.message)}` : 'the key a second time'),
      wanted: wantedOf[problem.code] ?? 'valid YAML',
    };
  });
  let data: unknown;
  try {
    if (document.errors.length === 0) data = document.toJS({ maxAliasCount: yamlAliasCount }) as unknown;
  } catch (error) {
    // The library throws for an alias without an anchor and for more aliases than allowed.
    issues.push({
      origin: originAt(undefined),
      key: '',
      found: `bad YAML: ${oneLine((error as Error).message)}`,
      wanted: 'valid YAML',
    });
  }
  return { file, data, issues, originOf: (path, part) => originAt(offsetOf(document, path, part)) };
};
