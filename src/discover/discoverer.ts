import path from 'node:path';
import { Fault } from '../core/fault.ts';
import type { CheckDefinition, DiscoverEntry } from '../core/loop-definition.ts';
import { dedupeTasks, rankTasks } from '../core/task.ts';
import type { CheckObservation } from '../core/verdict.ts';
import { issueOfTask } from '../connect/index.ts';
import { commandSource } from './command-source.ts';
import { failingTests } from './failing-tests.ts';
import { found, sourceName, type Found } from './found.ts';
import { goalTask } from './goal.ts';
import { issueFate, issueTasks } from './issues.ts';
import type { Discoverer, DiscoverParts, DiscoverRequest, StillOpen } from './port.ts';
import { isOpenIn } from './still-open.ts';
import { taskList } from './task-list.ts';

/** Most tasks one tick looks at. */
const tasksPerTick = 1_000;

type Look<From extends DiscoverEntry['from']> = {
  readonly entry: Extract<DiscoverEntry, { readonly from: From }>;
  readonly key: string;
  readonly request: DiscoverRequest;
};

/** The loop's own check of the same command, where it has one: with its environment the runs on base are paid for once. */
const checkFor = (request: DiscoverRequest, command: string): CheckDefinition | undefined =>
  request.loop.verify.find((check) => check.command === command);

/** Makes the discoverer: asks every source of a loop in turn, and says of each that could not be read why. */
export const createDiscoverer = (parts: DiscoverParts): Discoverer => {
  const runsOnBase = async (
    request: DiscoverRequest,
    key: string,
    check: CheckDefinition,
    times: number,
  ): Promise<readonly CheckObservation[]> => {
    const { base: commit, prefix, run, loop } = request;
    const { setup, setupTimeoutMs, share = [] } = loop.workspace;
    return (await parts.checks.baseline({ key, check, commit, times, prefix, setup, setupTimeoutMs, share, run })).runs;
  };

  const fromTests = async ({ entry, key, request }: Look<'tests'>): Promise<Found> => {
    const { command, report, timeoutMs, times } = entry;
    const own = checkFor(request, command);
    const check: CheckDefinition = {
      name: own?.name ?? command,
      command,
      timeoutMs,
      env: own?.env ?? {},
      report: { format: report.format ?? own?.report.format, file: report.file ?? own?.report.file },
    };
    return failingTests({ command, source: sourceName(entry), runs: await runsOnBase(request, key, check, times) });
  };

  const fromTasks = async ({ entry, request }: Look<'tasks'>): Promise<Found> => {
    const source = sourceName(entry);
    // The list as committed on base: what an agent ticks off in its workspace changes nothing here.
    const text = await parts.readFile(request.base, path.posix.join(request.prefix, entry.file));
    if (text !== undefined) return found({ tasks: taskList({ file: entry.file, source, text }) });
    return found({
      problems: [`${source}: the file does not exist in commit ${request.base.slice(0, 12)}. Commit it, or correct its path.`],
    });
  };

  const fromGoal = async ({ entry, key, request }: Look<'goal'>): Promise<Found> => {
    const { condition, check } = entry;
    const plain = {
      name: check,
      command: check,
      timeoutMs: request.loop.stop.timeMs,
      env: {},
      report: { format: undefined, file: undefined },
    };
    const runs = await runsOnBase(request, key, checkFor(request, check) ?? plain, 1);
    return goalTask({ condition, check, source: sourceName(entry), runs });
  };

  const fromIssues = async ({ entry }: Look<'issues'>): Promise<Found> => {
    const tracker = await parts.issues();
    const { repository } = tracker;
    return issueTasks({ repository, source: sourceName(entry), list: await tracker.openIssues(entry) });
  };

  const look = async (entry: DiscoverEntry, key: string, request: DiscoverRequest): Promise<Found> => {
    switch (entry.from) {
      case 'tests':
        return fromTests({ entry, key, request });
      case 'tasks':
        return fromTasks({ entry, key, request });
      case 'command':
        return commandSource(parts, request, { ...entry, key, source: sourceName(entry) });
      case 'issues':
        return fromIssues({ entry, key, request });
      case 'goal':
        return fromGoal({ entry, key, request });
    }
  };

  /** A source the world refuses is a problem of that source; the others are still asked. Cancellation and defects pass through. */
  const lookSafely = async (entry: DiscoverEntry, key: string, request: DiscoverRequest): Promise<Found> => {
    try {
      return await look(entry, key, request);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return found({ problems: [`${sourceName(entry)}: ${error.message} ${error.hint ?? ''}`.trim()] });
    }
  };

  return {
    async discover(request) {
      const all: Found[] = [];
      const unread: string[] = [];
      for (const [index, entry] of request.loop.discover.entries()) {
        const one = await lookSafely(entry, `discover/${index + 1}`, request);
        all.push(one);
        if (one.problems.length > 0) unread.push(sourceName(entry));
      }
      const tasks = rankTasks(dedupeTasks(all.flatMap((one) => one.tasks)));
      const problems = all.flatMap((one) => one.problems);
      if (tasks.length > tasksPerTick) {
        problems.push(`${tasks.length} tasks were found and the first ${tasksPerTick} are looked at. The others come when these are done.`);
        unread.push(...tasks.slice(tasksPerTick).map((task) => task.source));
      }
      const setAside = all.flatMap((one) => one.setAside);
      return { tasks: tasks.slice(0, tasksPerTick), setAside, problems, unread: [...new Set(unread)] };
    },
    async stillOpen(request): Promise<StillOpen> {
      const { task, loop } = request;
      const name = issueOfTask(task.key);
      if (name !== undefined) {
        const tracker = await parts.issues();
        const known = tracker.repository.toLowerCase() === name.repository;
        return known ? issueFate(await tracker.issue(name.number)) : { open: true };
      }
      if (task.proof.by === 'checks') return { open: true };
      const { command } = task.proof;
      const own = checkFor(request, command);
      const entry = loop.discover.find((one) => one.from === 'tests' && one.command === command);
      const check: CheckDefinition = own ?? {
        name: command,
        command,
        timeoutMs: entry?.from === 'tests' ? entry.timeoutMs : loop.stop.timeMs,
        env: {},
        report: entry?.from === 'tests' ? entry.report : { format: undefined, file: undefined },
      };
      const runs = await runsOnBase(request, `still-open/${task.key}`, check, 1);
      const open = runs.every((run) => isOpenIn(task, run));
      return open ? { open } : { open, why: 'it is done already on the target as it is now' };
    },
  };
};
