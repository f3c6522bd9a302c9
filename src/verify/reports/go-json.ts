// `go test -json`: one event a line (cmd/test2json). Lines that are not JSON come from the go tool itself.
import { z } from 'zod';
import { nameTests, type FoundTest } from './name-tests.ts';
import { broken, type ReaderInput, type ReportReader } from './report-input.ts';

const eventSchema = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  Output: z.string().optional(),
  FailedBuild: z.string().optional(),
});
type GoEvent = z.infer<typeof eventSchema>;

const eventStart = /^\{"(?:Time|Action|ImportPath|Package)":"/m;
const ends = new Set(['pass', 'fail', 'skip']);

/** One test, or the package as a whole (`test` is then empty). */
interface GoEntry {
  readonly package: string;
  readonly test: string;
  end: string | undefined;
  readonly output: string[];
}

const eventOf = (line: string): GoEvent | undefined => {
  try {
    return eventSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
};

/** Lines the framework adds around a test's own output. */
const isFrame = (line: string): boolean => /^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- (?:PASS|FAIL|SKIP):)/.test(line.slice(0, 200));

const outcomeOf = (entry: GoEntry): FoundTest['outcome'] => (entry.end === 'pass' ? 'passed' : entry.end === 'skip' ? 'skipped' : 'failed');

const foundOf = (entry: GoEntry): FoundTest => ({
  file: undefined,
  path: [entry.package, ...(entry.test === '' ? [] : entry.test.split('/'))],
  outcome: outcomeOf(entry),
  message: entry.output.filter((line) => !isFrame(line)).join(''),
});

/** Leaf tests of one package, and the package itself when it is red with no red test (build failure, panic in `TestMain`). */
const testsOfPackage = (whole: GoEntry, tests: readonly GoEntry[]): readonly FoundTest[] => {
  const parents = new Set(tests.flatMap(({ test }) => (test.includes('/') ? prefixesOf(test) : [])));
  const redBelow = new Set(tests.filter((entry) => entry.end === 'fail').flatMap(({ test }) => prefixesOf(test)));
  const kept = tests.filter((entry) => !parents.has(entry.test) || (outcomeOf(entry) === 'failed' && !redBelow.has(entry.test)));
  const found = kept.map(foundOf);
  return whole.end !== 'fail' || found.some((test) => test.outcome === 'failed') ? found : [...found, foundOf(whole)];
};

/** `A/b/c` stands below `A` and `A/b`. */
const prefixesOf = (test: string): readonly string[] => {
  const parts = test.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
};

export const goJsonReader: ReportReader = {
  format: 'go-json',
  recognises: ({ text }) => eventStart.test(text) && /"Action":"/.test(text) && /"(?:Package|ImportPath)":"/.test(text),
  read: ({ text, cwd }: ReaderInput) => {
    const entries = new Map<string, GoEntry>();
    const builds = new Map<string, string[]>();
    const failedBuilds = new Map<string, string>();
    for (const line of text.split('\n')) {
      if (!line.startsWith('{"')) continue;
      const event = eventOf(line);
      if (event === undefined)
        return broken('go-json', `The report of go test -json breaks off: ${JSON.stringify(line.slice(0, 80))} is no event.`);
      if (event.ImportPath !== undefined) {
        const output = builds.get(event.ImportPath) ?? [];
        builds.set(event.ImportPath, output);
        if (event.Output !== undefined) output.push(event.Output);
      }
      if (event.Package === undefined) continue;
      const key = `${event.Package}\n${event.Test ?? ''}`;
      const entry = entries.get(key) ?? { package: event.Package, test: event.Test ?? '', end: undefined, output: [] };
      entries.set(key, entry);
      if (event.Output !== undefined) entry.output.push(event.Output);
      if (event.FailedBuild !== undefined) failedBuilds.set(event.Package, event.FailedBuild);
      if (ends.has(event.Action)) entry.end = event.Action;
    }
    const byPackage = Map.groupBy(entries.values(), (entry) => entry.package);
    const found: FoundTest[] = [];
    for (const [name, all] of byPackage) {
      const whole = all.find((entry) => entry.test === '');
      const tests = all.filter((entry) => entry.test !== '');
      if (whole?.end === undefined) return broken('go-json', `The report of go test -json breaks off: package ${name} has no end.`);
      const open = tests.find((entry) => entry.end === undefined);
      if (open !== undefined && whole.end !== 'fail')
        return broken('go-json', `The report of go test -json contradicts itself: ${name} ended well, but ${open.test} has no end.`);
      whole.output.push(...(builds.get(failedBuilds.get(name) ?? '') ?? []));
      found.push(...testsOfPackage(whole, tests));
    }
    if (entries.size === 0) return broken('go-json', 'The report of go test -json names no package.');
    return { read: 'yes', format: 'go-json', tests: nameTests(found, cwd) };
  },
};
