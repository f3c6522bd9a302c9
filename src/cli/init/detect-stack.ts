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
  { lock: 'pnpm-lock.yaml', run: 'pnpm', exec: 'pnpm exec', setup: 'pnpm install --frozen-lockfile' },
  { lock: 'yarn.lock', run: 'yarn', exec: 'yarn', setup: 'yarn install --frozen-lockfile' },
  { lock: 'bun.lock', run: 'bun run', exec: 'bunx', setup: 'bun install --frozen-lockfile' },
  { lock: 'package-lock.json', run: 'npm', exec: 'npx', setup: 'npm ci' },
] as const;

const javascript: Detector = ({ names, text }) => {
  if (!names.has('package.json')) return undefined;
  const manifest = parseObject(text('package.json'));
  const scripts = (manifest['scripts'] ?? {}) as Record<string, unknown>;
  const script = scripts['test'];
  // npm's own placeholder is not a test command.
  if (typeof script !== 'string' || script.includes('no test specified')) return undefined;
  const manager = managers.find(({ lock }) => names.has(lock));
  const hasPackages = !isEmpty(manifest['dependencies']) || !isEmpty(manifest['devDependencies']);
  const setup = hasPackages ? (manager?.setup ?? 'npm install --no-audit --no-fund') : undefined;
  const exec = manager?.exec ?? 'npx';
  // A runner that can print its report as JSON is asked to: one task per failing test needs the names.
  if (/\bvitest\b/.test(script)) return { name: 'JavaScript with vitest', test: `${exec} vitest run --reporter=json`, setup };
  if (/\bjest\b/.test(script)) return { name: 'JavaScript with jest', test: `${exec} jest --json`, setup };
  return { name: 'JavaScript', test: `${manager?.run ?? 'npm'} test`, setup };
};

const python: Detector = ({ names, text }) => {
  const marks = ['pyproject.toml', 'pytest.ini', 'setup.cfg', 'tox.ini', 'setup.py', 'requirements.txt'];
  if (!marks.some((mark) => names.has(mark))) return undefined;
  const usesPytest =
    names.has('pytest.ini') || names.has('tests') || names.has('conftest.py') || marks.some((mark) => /pytest/.test(text(mark) ?? ''));
  return usesPytest
    ? { name: 'Python with pytest', test: 'python3 -m pytest -rA', setup: undefined }
    : { name: 'Python', test: 'python3 -m unittest', setup: undefined };
};

const go: Detector = ({ names }) => (names.has('go.mod') ? { name: 'Go', test: 'go test -json ./...', setup: undefined } : undefined);
const rust: Detector = ({ names }) => (names.has('Cargo.toml') ? { name: 'Rust', test: 'cargo test', setup: undefined } : undefined);
const maven: Detector = ({ names }) =>
  names.has('pom.xml') ? { name: 'Java with Maven', test: 'mvn -q test', setup: undefined } : undefined;
const gradle: Detector = ({ names }) =>
  names.has('gradlew') ? { name: 'Java with Gradle', test: './gradlew test', setup: undefined } : undefined;
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
