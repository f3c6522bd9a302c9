// Which words of a shell command name files that decide what "green" means. A reading by rule of thumb, not a shell parser: it only chooses
// what is held as on base in one more run, so a word read wrongly costs a run or misses a pin; it never turns red into green.

export interface GateWords {
  /** First words of the simple commands, without folder: `make`, `npm`, `check`. */
  readonly programs: ReadonlySet<string>;
  /** Paths whose very name says check (`scripts/verify.sh`, `expected.txt`): a gate even when new. */
  readonly telling: ReadonlySet<string>;
  /** Paths that are run or read as the definition (`./gate`, `sh run.sh`, `-f ci.mk`): a gate when base has them. */
  readonly direct: ReadonlySet<string>;
}

const wrappers: ReadonlySet<string> = new Set([
  'exec',
  'env',
  'time',
  'command',
  'nice',
  'nohup',
  '!',
  'then',
  'do',
  'if',
  'else',
  'while',
]);
const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'source', '.']);
/** How a makefile takes in another file (GNU make, "Including Other Makefiles"). */
const includes: ReadonlySet<string> = new Set(['include', '-include', 'sinclude']);
/** Programs that run another one named among their words: `npx vitest`, `uv run pytest`, `python -m pytest`, `timeout 60 make`. */
const carriers: ReadonlySet<string> = new Set(
  'npx pnpx bunx npm pnpm yarn bun corepack uv uvx poetry pdm hatch pipenv bundle python python3 timeout xvfb-run cross-env'.split(' '),
);
const fileOptions: ReadonlySet<string> = new Set(['-f', '-c', '--file', '--makefile', '--config', '--project']);

const checkName =
  /(?:^|[-_./])(?:checks?|tests?|specs?|verify|verification|accept|acceptance|validate|lint|ci|e2e|smoke|golden|expected|suites?|harness|selftest|runtests?|testrunner)(?:$|[-_./])/i;
/** The product itself may be called `src/check/index.js`; its repair must not count as a change of the gate. */
const productFolder = /^(?:src|lib|app|pkg|internal|cmd)\//;

const clean = (word: string): string => word.replace(/^\.\/+/, '');

const isTelling = (word: string): boolean => checkName.test(word) && !productFolder.test(word);

/** What stands between `$(` and `)` or between backticks is run for its output, which something else judges. */
const withoutSubstitutions = (text: string): string => text.replaceAll(/\$\([^()]*\)|`[^`]*`/g, '$_');

/**
 * Reads a command, or the text of a package script. Pure.
 * @param from `body`: text of a script that a command runs. There a program that stands alone may as well be the product, so only what is
 *   taken in (`. env.sh`, `sh part.sh`, `include rules.mk`), handed over to (`exec ./run`) or named like a check counts.
 */
export const gateWords = (whole: string, from: 'command' | 'body' = 'command'): GateWords => {
  const text = withoutSubstitutions(from === 'body' ? whole.replaceAll(/^[ \t]*#.*$/gm, '').replaceAll('\\\n', ' ') : whole);
  const programs = new Set<string>();
  const telling = new Set<string>();
  const direct = new Set<string>();
  const simple = text.split(/&&|\|\||[;|&\n()]/);
  // A program whose output is compared by the next one is what is tested; one that stands alone is the judge.
  const isPiped = /(?<!\|)\|(?!\|)/.test(text);
  for (const command of simple) {
    const words = command
      .replaceAll(/["'`]/g, '')
      .split(/\s+/)
      .filter((word) => word !== '' && !/^\w+=/.test(word));
    const isHandedOver = words[0] === 'exec';
    while (wrappers.has(words[0] ?? '')) words.shift();
    const [program, ...rest] = words;
    if (program === undefined) continue;
    const name = program.slice(program.lastIndexOf('/') + 1);
    programs.add(name);
    if (carriers.has(name)) for (const word of rest) programs.add(word);
    const standsAlone = from === 'body' ? isHandedOver : rest.length === 0 && !isPiped;
    if (standsAlone) direct.add(clean(program));
    if (includes.has(program)) for (const file of rest) direct.add(clean(file));
    if (shells.has(program)) {
      const script = rest.find((word) => !word.startsWith('-'));
      if (script !== undefined) direct.add(clean(script));
    }
    for (const [index, word] of words.entries()) {
      const value = /^--(?:file|makefile|config|project)=(.+)$/.exec(word)?.[1];
      if (value !== undefined) direct.add(clean(value));
      if (fileOptions.has(words[index - 1] ?? '')) direct.add(clean(word));
      if (isTelling(clean(word))) telling.add(clean(word));
    }
  }
  return { programs, telling, direct };
};
