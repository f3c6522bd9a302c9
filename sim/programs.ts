// What the simulated programs do: agents, checks, set-up commands. Each finds what it is to do in its arguments.
import type { ProcessSpec } from '../src/process/index.ts';
import type { Clock } from './clock.ts';
import type { Program } from './machine.ts';
import type { World } from './world.ts';

export interface AgentOrder {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly budgetUsd: number | undefined;
}

export interface CheckOrder {
  readonly run: string;
  readonly task: string;
  readonly commit: string;
}

/** What an agent prints at its end. */
export interface AgentReport {
  readonly outcome: 'completed' | 'auth' | 'rate-limit' | 'overflow' | 'budget' | 'crash';
  /** `undefined`: it does not say. */
  readonly usd: number | undefined;
  readonly resetAt: number | undefined;
}

type Work = 'right' | 'wrong' | 'nothing' | 'harmful';

const agentProgram = (clock: Clock, world: World, order: AgentOrder): Program => {
  const { run, task, attempt, budgetUsd } = order;
  const { hardness } = world.task(task);
  const before = world.sessions.filter((session) => session.task === task).length;
  const chance = world.chanceOf(`session/${task}/${before}`);
  const durationMs = chance.happens(0.05) ? 3_600_000 : chance.between(5_000, 150_000);
  const outcome = chance.happens(0.7) ? 'completed' : chance.pick<AgentReport['outcome']>(['auth', 'rate-limit', 'overflow', 'crash']);
  const work: Work = before >= hardness ? 'right' : chance.pick<Work>(['wrong', 'wrong', 'nothing', 'harmful']);
  const wanted = chance.between(1, 60) / 100;
  const usd = Math.min(wanted, budgetUsd ?? wanted);
  const isTold = !chance.happens(0.1);
  const share = chance.next();
  const resetInMs = chance.between(30_000, 300_000);
  const draft = chance.between(0, 2);

  const bill = (amount: number): void => world.bill({ run, task, attempt, usd: amount });
  const leave = (): void => {
    const workspace = world.workspaces.get(run);
    if (workspace === undefined || work === 'nothing') return;
    const base = workspace.left ?? world.commit(workspace.base);
    workspace.left = world.commitOn(base, {
      done: work === 'right' ? [task] : [],
      isBroken: work === 'harmful',
      tree: work === 'right' ? `${task}!` : `${task}?${draft}`,
    });
  };

  return {
    durationMs,
    finish: () => {
      const isCapped = budgetUsd !== undefined && wanted >= budgetUsd;
      const ends = isCapped && outcome === 'completed' ? 'budget' : outcome;
      const worked = ends === 'completed' || ends === 'budget';
      const cost = worked ? usd : 0;
      bill(cost);
      if (worked) leave();
      const report: AgentReport = {
        outcome: ends,
        usd: isTold && ends !== 'crash' ? cost : undefined,
        resetAt: ends === 'rate-limit' ? clock.wall() + resetInMs : undefined,
      };
      return { exitCode: ends === 'crash' ? 1 : 0, stdout: JSON.stringify(report) };
    },
    // Whoever is cut off has spent something and says nothing.
    broken: () => {
      bill(usd * share);
      if (share > 0.5) leave();
      return '';
    },
  };
};

const checkProgram = (world: World, { run, task, commit }: CheckOrder): Program => {
  const chance = world.chanceOf(`check/${run}/${commit}/${world.judgements.length}`);
  const isGreen = !world.commit(commit).isBroken && world.commit(commit).done.has(task);
  const hangs = chance.happens(0.03);
  return {
    durationMs: hangs ? 3_600_000 : chance.between(1_000, 20_000),
    finish: () => ({ exitCode: isGreen ? 0 : 1, stdout: '' }),
    broken: () => '',
  };
};

const quickProgram = (durationMs: number): Program => ({ durationMs, finish: () => ({ exitCode: 0, stdout: '' }), broken: () => '' });

/** The order stands in the first argument, as JSON. */
export const programsOf =
  (clock: Clock, world: World) =>
  (spec: ProcessSpec): Program => {
    const order: unknown = JSON.parse(spec.args[0] ?? 'null');
    switch (spec.command) {
      case 'agent':
        return agentProgram(clock, world, order as AgentOrder);
      case 'check':
        return checkProgram(world, order as CheckOrder);
      case 'set-up':
      case 'list-tasks':
        return quickProgram(2_000);
      case 'stay':
        return quickProgram(3_600_000);
      default:
        throw new Error(`The simulated machine has no program ${spec.command}.`);
    }
  };
