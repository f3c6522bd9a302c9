// What many seeds come to.
import type { SeedReport } from './simulate.ts';

export interface Totals {
  add(report: SeedReport): void;
  /** Sections of counts, for a table or as JSON. */
  read(): Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const addAll = (into: Record<string, number>, counts: Readonly<Record<string, number>>): void => {
  for (const [name, count] of Object.entries(counts)) into[name] = (into[name] ?? 0) + count;
};

export const createTotals = (): Totals => {
  const sections: Record<'simulated' | 'crashes' | 'points passed' | 'disturbances' | 'run exits', Record<string, number>> = {
    simulated: {},
    crashes: {},
    'points passed': {},
    disturbances: {},
    'run exits': {},
  };
  return {
    add: (report) => {
      const { lives, ticks, runs, landings, sessions, commits, effects, violations, virtualMs } = report;
      addAll(sections.simulated, {
        worlds: 1,
        'failed worlds': violations.length === 0 ? 0 : 1,
        lives,
        ticks,
        'task runs': runs,
        landings,
        'agent sessions': sessions,
        commits,
        effects,
        'virtual hours': virtualMs / 3_600_000,
      });
      addAll(sections.crashes, report.died);
      addAll(sections['points passed'], report.passed);
      addAll(sections.disturbances, report.disturbed);
      addAll(sections['run exits'], report.exits);
    },
    read: () => sections,
  };
};

export const totalsText = (sections: ReturnType<Totals['read']>): string =>
  Object.entries(sections)
    .map(([title, counts]) => {
      const rows = Object.entries(counts).map(
        ([name, count]) => `  ${name.padEnd(28)}${Math.round(count).toLocaleString('en-US').padStart(12)}`,
      );
      return [title, ...rows].join('\n');
    })
    .join('\n');
