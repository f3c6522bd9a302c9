// The truth: what the repository holds, what was landed, what the agents really cost. It outlives every engine, and no engine reads it
// but through the fakes.
import { commitSha, type CommitSha } from '../src/core/ids.ts';
import type { LandingKind } from '../src/core/loop-definition.ts';
import type { Chance } from './chance.ts';
import type { SimTask } from './scenario.ts';

export interface SimCommit {
  readonly sha: CommitSha;
  readonly base: CommitSha | undefined;
  /** Tasks that are done in it. */
  readonly done: ReadonlySet<string>;
  /** Something in it is broken: no check is green. */
  readonly isBroken: boolean;
  /** What its files are, as one word: equal trees are equal work. */
  readonly tree: string;
}

/** A change that was brought in; `commit` is the candidate, or what it became when it was combined with the target. */
export interface Landing {
  readonly run: string;
  readonly task: string;
  readonly as: LandingKind;
  readonly commit: CommitSha;
}

export interface Judgement {
  readonly run: string;
  readonly commit: CommitSha;
  readonly pass: boolean;
}

/** One agent session, as its provider bills it. */
export interface Session {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly usd: number;
}

export interface SimWorkspace {
  readonly run: string;
  readonly base: CommitSha;
  /** What its agent left: a commit that is not named yet. */
  left: SimCommit | undefined;
}

export interface World {
  readonly tasks: readonly SimTask[];
  readonly landings: readonly Landing[];
  readonly judgements: readonly Judgement[];
  readonly sessions: readonly Session[];
  readonly workspaces: Map<string, SimWorkspace>;
  /** Candidates by run and attempt, as the refs name them. */
  readonly refs: Map<string, SimCommit>;
  /** Evidence by its hash. */
  readonly evidence: Map<string, Buffer>;
  head(): SimCommit;
  commit(sha: string): SimCommit;
  /** Makes a commit on a base: these tasks done beside those of the base. */
  commitOn(base: SimCommit, change: { readonly done: readonly string[]; readonly isBroken: boolean; readonly tree: string }): SimCommit;
  /** What a change becomes on another base. */
  combine(change: SimCommit, onto: SimCommit): SimCommit;
  /** Tasks of a loop that exist at this uptime and are not done in a commit. */
  openTasks(loop: string, at: { readonly commit: SimCommit; readonly uptimeMs: number }): readonly SimTask[];
  task(name: string): SimTask;
  /** Moves the target. `brings`: a commit that is part of it now under its own name. */
  push(commit: SimCommit, brings?: string): void;
  isOnTarget(sha: string): boolean;
  land(landing: Landing): void;
  judge(judgement: Judgement): void;
  bill(session: Session): void;
  /** A person throws a task away. */
  withdraw(task: string): void;
  /** Chance of the world: the same for a task whatever the engine does. */
  chanceOf(name: string): Chance;
}

export const createWorld = (tasks: readonly SimTask[], chance: Chance): World => {
  const commits = new Map<string, SimCommit>();
  const onTarget = new Set<string>();
  const withdrawn = new Set<string>();
  const landings: Landing[] = [];
  const judgements: Judgement[] = [];
  const sessions: Session[] = [];

  const add = (commit: Omit<SimCommit, 'sha'>): SimCommit => {
    const sha = commitSha((commits.size + 1).toString(16).padStart(40, '0'));
    const whole = { ...commit, sha };
    commits.set(sha, whole);
    return whole;
  };
  let head = add({ base: undefined, done: new Set(), isBroken: false, tree: 'root' });
  onTarget.add(head.sha);

  const commitOf = (sha: string): SimCommit => {
    const commit = commits.get(sha);
    if (commit === undefined) throw new Error(`The world has no commit ${sha}.`);
    return commit;
  };
  const taskOf = (name: string): SimTask => {
    const task = tasks.find((one) => one.name === name);
    if (task === undefined) throw new Error(`The world has no task ${name}.`);
    return task;
  };
  const clash = (change: ReadonlySet<string>, onto: ReadonlySet<string>): boolean =>
    tasks.some(
      ({ name, clashesWith }) =>
        clashesWith !== undefined && ((change.has(name) && onto.has(clashesWith)) || (change.has(clashesWith) && onto.has(name))),
    );

  return {
    tasks,
    landings,
    judgements,
    sessions,
    workspaces: new Map(),
    refs: new Map(),
    evidence: new Map(),
    head: () => head,
    commit: commitOf,
    commitOn: (base, { done, isBroken, tree }) =>
      add({ base: base.sha, done: new Set([...base.done, ...done]), isBroken: base.isBroken || isBroken, tree: `${base.tree}+${tree}` }),
    combine: (change, onto) => {
      const before = change.base === undefined ? new Set<string>() : commitOf(change.base).done;
      const own = new Set([...change.done].filter((name) => !before.has(name)));
      const added = new Set([...onto.done].filter((name) => !before.has(name)));
      return add({
        base: onto.sha,
        done: new Set([...onto.done, ...own]),
        isBroken: change.isBroken || onto.isBroken || clash(own, added),
        tree: `${onto.tree}+${change.tree}`,
      });
    },
    openTasks: (loop, { commit, uptimeMs }) =>
      tasks.filter(
        (task) => task.loop === loop && task.appearsAtMs <= uptimeMs && !withdrawn.has(task.name) && !commit.done.has(task.name),
      ),
    task: taskOf,
    push: (commit, brings) => {
      head = commit;
      onTarget.add(commit.sha);
      if (brings !== undefined) onTarget.add(brings);
    },
    isOnTarget: (sha) => onTarget.has(sha),
    land: (landing) => landings.push(landing),
    judge: (judgement) => judgements.push(judgement),
    bill: (session) => sessions.push(session),
    withdraw: (task) => withdrawn.add(task),
    chanceOf: (name) => chance.fork(name),
  };
};
