// Where tasks come from and what proves them: `discover`, `verify` and `goal` belong together, because each fills in for another.

import { assert, type Issue } from '../core/fault.ts';
import type { CheckDefinition, DiscoverEntry } from '../core/loop-definition.ts';
import { defaults, entryDefaults } from './defaults.ts';
import { parseDuration } from './duration.ts';
import type { CheckInput, DiscoverInput } from './entry-schema.ts';
import type { Merged } from './merge-layers.ts';

export interface Work {
  readonly discover: readonly DiscoverEntry[];
  readonly verify: readonly CheckDefinition[];
  readonly goal: string;
}

const timeoutMs = (text: string | undefined): number => parseDuration(text ?? entryDefaults.timeout) ?? 0;

const reportOf = (report: DiscoverInput['report']): CheckDefinition['report'] => ({ format: report?.format, file: report?.file });

const discoverEntry = (entry: DiscoverInput): DiscoverEntry => {
  if (entry.tests !== undefined)
    return {
      from: 'tests',
      command: entry.tests,
      report: reportOf(entry.report),
      times: entry.times ?? entryDefaults.times,
      timeoutMs: timeoutMs(entry.timeout),
    };
  if (entry.tasks !== undefined) return { from: 'tasks', file: entry.tasks };
  if (entry.issues !== undefined) {
    const { labels = [], assignee } = typeof entry.issues === 'string' ? { labels: [entry.issues] } : entry.issues;
    return { from: 'issues', labels, assignee };
  }
  assert(entry.command !== undefined, 'A discover entry that passed its schema has a source.');
  return { from: 'command', command: entry.command, timeoutMs: timeoutMs(entry.timeout) };
};

const checkEntry = (entry: CheckInput): CheckDefinition => {
  const map = typeof entry === 'string' ? { run: entry } : entry;
  assert(map.run !== undefined, 'A verify entry that passed its schema has a command.');
  const env = Object.fromEntries(Object.entries(map.env ?? {}).map(([name, value]) => [name, String(value)]));
  return { name: map.name ?? map.run, command: map.run, timeoutMs: timeoutMs(map.timeout), env, report: reportOf(map.report) };
};

/** A second check of the same name becomes `name #2`. */
const uniquelyNamed = (checks: readonly CheckDefinition[]): readonly CheckDefinition[] => {
  const seen = new Set<string>();
  return checks.map((check) => {
    let { name } = check;
    for (let n = 2; seen.has(name); n += 1) name = `${check.name} #${n}`;
    seen.add(name);
    return { ...check, name };
  });
};

/**
 * Resolves the three sections, each as far as it fits its schema.
 *
 * Without `discover` the loop's goal is the one task, proved by the first check. Without `verify` the commands of the `tests` sources
 * are the checks. A loop with neither cannot tell good work from bad, and is refused.
 * @param bad sections that are wrong already; what depends on them is not reported a second time
 */
export const resolveWork = (
  { input }: Pick<Merged, 'input'>,
  { file, bad }: { readonly file: string; readonly bad: ReadonlySet<string> },
): { readonly work: Work; readonly issues: readonly Issue[] } => {
  const isWhole = !['discover', 'verify', 'goal'].some((section) => bad.has(section));
  const issues: Issue[] = [];
  const discover = (input.discover ?? []).map(discoverEntry);
  const given = (input.verify ?? []).map(checkEntry);
  const implied = discover.flatMap((entry): readonly CheckDefinition[] =>
    entry.from === 'tests'
      ? [{ name: entry.command, command: entry.command, timeoutMs: entry.timeoutMs, env: {}, report: entry.report }]
      : [],
  );
  const verify = uniquelyNamed(given.length > 0 ? given : implied);
  const [check] = verify;
  const origin = { file, line: 1, column: 1 };

  if (input.discover === undefined && input.goal === undefined && isWhole)
    issues.push({
      origin,
      key: 'discover',
      found: 'nothing',
      wanted: 'a source of tasks (discover: [{ tests: npm test }]), or a goal and a check',
    });
  else if (check === undefined && isWhole)
    issues.push({ origin, key: 'verify', found: 'nothing', wanted: 'a check such as verify: [npm test]: a loop needs at least one check' });
  if (discover.length === 0 && input.goal !== undefined && check !== undefined)
    discover.push({ from: 'goal', condition: input.goal, check: check.command });
  return { work: { discover, verify, goal: input.goal ?? defaults.goal }, issues };
};
