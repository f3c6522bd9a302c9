// What has to hold of a world whose daemon was killed many times and then ended its work. Each look gives sentences; none means it holds.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isTaskRun, outputOf } from '../../../src/loop/read.ts';
import type { RunRow } from '../../../src/journal/index.ts';
import type { Kill } from './campaign.ts';
import { everyMs, loops, target, type World } from './world.ts';

export const findingsOf = async (
  world: World,
  { checkout, kills }: { readonly checkout: string; readonly kills: readonly Kill[] },
): Promise<readonly string[]> => {
  const runs = world.read((reader) => reader.runs()) ?? [];
  const taskRuns = runs.filter(isTaskRun);
  return [
    ...landings(world),
    ...runEnds(world, taskRuns),
    ...agentCalls(world),
    ...spends(world, taskRuns),
    ...windows(world, runs),
    ...journal(world, kills),
    ...leftovers(world),
    ...(await processes(world)),
    ...(world.checkout() === checkout ? [] : [`the user's checkout is now ${world.checkout()}, before it was ${checkout}`]),
  ];
};

const fieldEnd = '\x1f';

/** Every task given: its commit exactly once, where its loop lands. */
const landings = (world: World): readonly string[] => {
  const commits = world
    .git('log', '--branches', `--format=%H${fieldEnd}%(trailers:key=Gyre-Run,valueonly,separator=%x20)${fieldEnd}%s`)
    .split('\n')
    .map((line) => line.split(fieldEnd))
    .filter(([, run]) => run !== undefined && run !== '');
  return loops.flatMap((loop) =>
    (world.given.get(loop) ?? []).flatMap((key) => {
      const found = commits.filter(([, , subject]) => subject === `gyre(${loop}): ${key}`);
      if (found.length !== 1)
        return [`task ${key} of loop ${loop} has ${found.length} landings: ${found.map(([commit]) => commit).join(' ')}`];
      const place = loop === 'merge' ? target : `gyre/branch/${key}`;
      const text = world.git('show', `${place}:out/${key}`);
      return text === `right ${key}` ? [] : [`out/${key} on ${place} is ${JSON.stringify(text)}`];
    }),
  );
};

const runEnds = (world: World, runs: readonly RunRow[]): readonly string[] => [
  ...runs.filter((row) => row.endedAt === undefined).map((row) => `run ${row.id} has not ended: ${row.state}`),
  ...runs
    .filter((row) => row.endedAt !== undefined && outputOf(row).exit.exit !== 'goal-met')
    .map((row) => `run ${row.id} (${row.dedupeKey}) ended with ${JSON.stringify(outputOf(row).exit)}`),
  ...loops.flatMap((loop) =>
    (world.given.get(loop) ?? []).flatMap((key) => {
      const count = runs.filter((row) => row.dedupeKey.endsWith(`item:${key}`)).length;
      return count === 1 ? [] : [`task ${key} has ${count} runs`];
    }),
  ),
];

/** One call an attempt, each with its end, and never two agents at one task. */
const agentCalls = (world: World): readonly string[] => {
  const calls = world.calls();
  const findings = calls
    .filter((call) => call.to === undefined)
    .map((call) => `the agent of ${call.key}, attempt ${call.attempt}, did not end`);
  for (const [name, same] of Map.groupBy(calls, (call) => `${call.run} attempt ${call.attempt}`))
    if (same.length > 1) findings.push(`the agent was called ${same.length} times for run ${name}`);
  for (const [key, same] of Map.groupBy(calls, (call) => call.key))
    for (const [index, call] of same.entries()) {
      const next = same[index + 1];
      if (next !== undefined && (call.to === undefined || call.to > next.from)) findings.push(`two agents worked on ${key} at once`);
    }
  return findings;
};

const spends = (world: World, runs: readonly RunRow[]): readonly string[] => {
  const calls = Map.groupBy(world.calls(), (call) => call.run);
  return runs
    .filter((row) => row.endedAt !== undefined)
    .flatMap((row) => {
      const spent = (calls.get(row.id) ?? []).reduce((sum, call) => sum + call.usd, 0);
      const { usd } = outputOf(row).spend;
      return usd !== undefined && Math.abs(usd - spent) < 1e-9 ? [] : [`run ${row.id} says it spent ${usd}, its agents said ${spent}`];
    });
};

interface WindowRecord {
  readonly end: string;
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Every window between the first and the last one kept has one end, and each that fired has its tick. */
const windows = (world: World, runs: readonly RunRow[]): readonly string[] => {
  const entries = world.read((reader) => reader.register('windows')) ?? [];
  const ticks = new Set(runs.filter((row) => !isTaskRun(row)).map((row) => String(row.id)));
  return loops.flatMap((loop) => {
    const own = entries.filter(({ key }) => key.startsWith(`${loop}/`));
    const records = own.map(({ key, value }) => ({ key, ...(value as WindowRecord) })).toSorted((a, b) => a.from - b.from);
    const findings = records.length === 0 ? [`loop ${loop} has no windows`] : [];
    let expected = records[0]?.from ?? 0;
    for (const { key, end, from, to, count } of records) {
      if (from !== expected) findings.push(`windows of ${loop}: after ${expected - everyMs} comes ${from} (${key})`);
      if (count !== (to - from) / everyMs + 1) findings.push(`window record ${key} counts ${count} from ${from} to ${to}`);
      if ((end === 'fired') !== ticks.has(key))
        findings.push(`window ${key} is ${end}, its tick ${ticks.has(key) ? 'is there' : 'is not there'}`);
      expected = to + everyMs;
    }
    return findings;
  });
};

const journal = (world: World, kills: readonly Kill[]): readonly string[] =>
  world.read((reader) => {
    const report = reader.verify();
    const lost = kills.filter(
      ({ last }) => last !== undefined && reader.facts({ afterSeq: last.seq - 1, limit: 1 })[0]?.hash !== last.hash,
    );
    return [
      ...(report.ok ? [] : [`the journal's chain: ${report.why}`]),
      ...lost.map((kill) => `the last fact before kill ${kill.number}, ${kill.last?.seq}, is not there any more`),
    ];
  }) ?? ['there is no journal'];

const leftovers = (world: World): readonly string[] => {
  const worktrees = world.git('worktree', 'list').split('\n').length;
  const folders = ['worktrees', 'clean', 'pool', 'tmp'].flatMap((name) => {
    const dir = path.join(world.stateHome, name);
    const names = existsSync(dir) ? readdirSync(dir) : [];
    return names.length === 0 ? [] : [`${names.length} left in ${name}/: ${names.slice(0, 3).join(' ')}`];
  });
  const locks = readdirSync(path.join(world.repo, '.git'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.lock'));
  return [
    ...(worktrees === 1 ? [] : [`git worktree list has ${worktrees} lines`]),
    ...folders,
    ...locks.map((name) => `left in .git: ${name}`),
  ];
};

const goneMs = 10_000;

const processes = async (world: World): Promise<readonly string[]> => {
  const until = Date.now() + goneMs;
  while (world.alive().length > 0 && Date.now() < until) await delay(100);
  return world.alive().map((line) => `process left: ${line}`);
};
