import type { GateWords } from './command-words.ts';

/** How a changed file takes part in the definition of a check: as a whole, or by some of its keys or sections. */
export type GateKind =
  | { readonly gate: 'whole'; readonly whenNew: boolean }
  | { readonly gate: 'json-keys'; readonly keys: readonly string[] }
  | { readonly gate: 'sections'; readonly sections: RegExp };

const scriptRunners: readonly string[] = ['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'node'];
const jsTestRunners: readonly string[] = ['jest', 'mocha', 'ava', 'nyc', 'c8', 'tap', 'vitest', 'standard', 'eslint'];
const pythonTools: readonly string[] = ['pytest', 'py.test', 'python', 'python3', 'uv', 'poetry', 'pdm', 'hatch', 'tox', 'nox', 'coverage'];

/** Program of the command, name of the file, part of the file that counts. */
const rules: readonly { readonly programs: readonly string[]; readonly file: RegExp; readonly kind: GateKind }[] = [
  ...(
    [
      [['make', 'gmake'], /^(?:GNUmakefile|[Mm]akefile|.*\.mk)$/],
      [['just'], /^(?:\.?justfile|.*\.just)$/i],
      [['task'], /^Taskfile(?:\.dist)?\.ya?ml$/i],
      [['rake', 'bundle'], /^(?:Rakefile|.*\.rake)$/],
      [['gradle', 'gradlew'], /^(?:(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties|gradlew)$/],
      [['mvn', 'mvnw'], /^(?:pom\.xml|mvnw)$/],
      [['cmake', 'ctest'], /^(?:CMakeLists\.txt|CTestConfig\.cmake)$/],
      [['mix'], /^mix\.exs$/],
      [['vitest', 'vite'], /^vite\.config\.\w+$/],
      // `script-shell` and the like decide what runs when a script is run.
      [scriptRunners, /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|bunfig\.toml)$/],
    ] as const
  ).map(([programs, file]) => ({ programs, file, kind: { gate: 'whole', whenNew: true } as const })),
  {
    programs: [...scriptRunners, ...jsTestRunners],
    file: /^package\.json$/,
    kind: { gate: 'json-keys', keys: ['scripts', 'config', 'jest', 'vitest', 'mocha', 'ava', 'nyc', 'c8', 'tap', 'eslintConfig'] },
  },
  { programs: ['deno'], file: /^deno\.jsonc?$/, kind: { gate: 'json-keys', keys: ['tasks', 'test', 'lint'] } },
  { programs: ['composer'], file: /^composer\.json$/, kind: { gate: 'json-keys', keys: ['scripts'] } },
  {
    programs: pythonTools,
    file: /^pyproject\.toml$/,
    kind: { gate: 'sections', sections: /^\[+tool\.(?:"?pytest|coverage|tox|nox|hatch\.envs|pdm\.scripts|poe)/ },
  },
  { programs: pythonTools, file: /^setup\.cfg$/, kind: { gate: 'sections', sections: /^\[(?:tool:pytest|coverage:|tox|aliases)/ } },
  { programs: ['cargo'], file: /^Cargo\.toml$/, kind: { gate: 'sections', sections: /^\[+(?:test|profile\.test)[.\]]/ } },
];

const names = (tokens: ReadonlySet<string>, file: string, prefix: string): boolean => {
  const inPrefix = prefix !== '' && file.startsWith(`${prefix}/`) ? file.slice(prefix.length + 1) : file;
  for (const token of tokens) {
    if (token === inPrefix || token === file || file.endsWith(`/${token}`)) return true;
    // A folder of checks, named with a slash so that the word `test` of `npm test` is not one.
    if (token.includes('/') && inPrefix.startsWith(`${token.replace(/\/+$/, '')}/`)) return true;
  }
  return false;
};

/**
 * Tells whether and how a file takes part in the definition of a check. Pure.
 * @param words of the command and of every package script it runs, as on base
 * @param file relative to the repository root
 * @param prefix folder in which the command runs, '' for the root
 */
export const gateKindOf = (words: readonly GateWords[], file: string, prefix: string): GateKind | undefined => {
  if (words.some((set) => names(set.telling, file, prefix))) return { gate: 'whole', whenNew: true };
  if (words.some((set) => names(set.direct, file, prefix))) return { gate: 'whole', whenNew: false };
  const base = file.slice(file.lastIndexOf('/') + 1);
  return rules.find((rule) => rule.file.test(base) && rule.programs.some((program) => words.some((set) => set.programs.has(program))))
    ?.kind;
};
