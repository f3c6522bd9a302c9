// What kind of project is this, and how are its tests run? Pure: it is given names and texts, it looks nothing up.

export interface ProjectFiles {
  /** Names in the folder. */
  readonly names: ReadonlySet<string>;
  /** Text of a file of the folder, where it exists. */
  readonly text: (name: string) => string | undefined;
}

export interface Stack {
  readonly name: string;
  readonly test: string;
  readonly setup: string | undefined;
}

type Detector = (files: ProjectFiles) => Stack | undefined;

const parseObject = (text: string | undefined): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

const isEmpty = (value: unknown): boolean => typeof value !== 'object' || value === null || Object.keys(value).length === 0;

const managers = [
  { lock: 'pnpm-lock.yaml', test: 'pnpm test', dash: '', exec: 'pnpm exec', setup: 'pnpm install --frozen-lockfile' },
  { lock: 'yarn.lock', test: 'yarn test', dash: '', exec: 'yarn', setup: 'yarn install --frozen-lockfile' },
  { lock: 'bun.lock', test: 'bun run test', dash: '', exec: 'bunx', setup: 'bun install --frozen-lockfile' },
  { lock: 'bun.lockb', test: 'bun run test', dash: '', exec: 'bunx', setup: 'bun install --frozen-lockfile' },
  { lock: 'package-lock.json', test: 'npm test', dash: '-- ', exec: 'npx', setup: 'npm ci' },
] as const;
const plainNpm = { test: 'npm test', dash: '-- ', exec: 'npx', setup: 'npm install --no-audit --no-fund' } as const;

/**
 * Runners whose usual output names no test that passes, and the options that make them print a report Gyre reads. TAP for vitest, because
 * its JSON goes to standard output in old versions and into a file in new ones.
 */
const askable = [
  { name: 'vitest', word: /\bvitest\b/, command: 'vitest run', options: '--run --reporter=tap' },
  { name: 'jest', word: /\bjest\b/, command: 'jest', options: '--json' },
  { name: 'mocha', word: /\bmocha\b/, command: 'mocha', options: '--reporter=tap' },
] as const;

/** A script of one command that chooses no reporter itself: options given to it arrive at the runner. */
const takesOptions = (script: string): boolean => !/[&|;<>]|--reporter|\s-R\s/.test(script);

const javascript: Detector = ({ names, text }) => {
  if (!names.has('package.json')) return undefined;
  const manifest = parseObject(text('package.json'));
  const scripts = (manifest['scripts'] ?? {}) as Record<string, unknown>;
  const script = scripts['test'];
  // npm's own placeholder is not a test command.
  if (typeof script !== 'string' || script.trim() === '' || script.includes('no test specified')) return undefined;
  const manager = managers.find(({ lock }) => names.has(lock)) ?? plainNpm;
  const hasPackages = !isEmpty(manifest['dependencies']) || !isEmpty(manifest['devDependencies']);
  const setup = hasPackages ? manager.setup : undefined;
  const runner = askable.find(({ word }) => word.test(script));
  if (runner === undefined) return { name: 'JavaScript', test: manager.test, setup };
  const direct = `${manager.exec} ${runner.command} ${runner.options.replace('--run ', '')}`;
  const test = takesOptions(script) ? `${manager.test} ${manager.dash}${runner.options}` : direct;
  return { name: `JavaScript with ${runner.name}`, test, setup };
};

// -rA names the tests that pass; and one file that cannot be imported must not keep the others from running.
const python: Detector = ({ names, text }) => {
  const marks = ['pyproject.toml', 'pytest.ini', 'setup.cfg', 'tox.ini', 'setup.py', 'requirements.txt'];
  if (!marks.some((mark) => names.has(mark))) return undefined;
  const usesPytest =
    names.has('pytest.ini') || names.has('tests') || names.has('conftest.py') || marks.some((mark) => /pytest/.test(text(mark) ?? ''));
  return usesPytest
    ? { name: 'Python with pytest', test: 'python3 -m pytest -rA --continue-on-collection-errors', setup: undefined }
    : { name: 'Python', test: 'python3 -m unittest', setup: undefined };
};

const go: Detector = ({ names }) => (names.has('go.mod') ? { name: 'Go', test: 'go test -json ./...', setup: undefined } : undefined);
// Without --no-fail-fast cargo stops at the first red binary, and what is red behind it looks new once that is repaired.
const rust: Detector = ({ names }) =>
  names.has('Cargo.toml') ? { name: 'Rust', test: 'cargo test --no-fail-fast', setup: undefined } : undefined;
/** Runs a build and prints the JUnit files it wrote, since it names no tests in its output. The exit code stays that of the build. */
const withReports = (build: string, files: string): string => `${build}; code=$?; find . -path '${files}' -exec cat {} +; exit $code`;

const maven: Detector = ({ names }) =>
  names.has('pom.xml')
    ? { name: 'Java with Maven', test: withReports('mvn -q -B -fae test', '*/surefire-reports/TEST-*.xml'), setup: undefined }
    : undefined;
const gradle: Detector = ({ names }) =>
  names.has('gradlew')
    ? { name: 'Java with Gradle', test: withReports('./gradlew test --continue', '*/test-results/*/TEST-*.xml'), setup: undefined }
    : undefined;
const make: Detector = ({ names, text }) =>
  names.has('Makefile') && /^test\s*:/m.test(text('Makefile') ?? '') ? { name: 'make', test: 'make test', setup: undefined } : undefined;

const detectors: readonly Detector[] = [javascript, python, go, rust, maven, gradle, make];

/** The first stack whose marks are there, most telling mark first; `undefined` where nothing is recognised. */
export const detectStack = (files: ProjectFiles): Stack | undefined => {
  for (const detect of detectors) {
    const stack = detect(files);
    if (stack !== undefined) return stack;
  }
  return undefined;
};
