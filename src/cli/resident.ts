// The daemon: one engine for a repository that stays, with the schedule of its loops.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigSource } from '../config/index.ts';
import { settingsOf } from '../config/index.ts';
import type { Fault } from '../core/fault.ts';
import { createTickDesk, interrupted, parkInterrupted, watchParked } from '../loop/index.ts';
import { createScheduler, type Scheduler } from '../schedule/index.ts';
import { createRotatingLog, type RotatingLog, watchStalls } from '../server/index.ts';
import { runThroughRunner } from '../workspace/index.ts';
import { type Cycle, openCycle } from './compose.ts';
import { watchRequests } from './control.ts';
import { daemonKey, daemonRegister, type DaemonState } from './daemon-state.ts';
import { keepHouse } from './housekeeping.ts';
import type { Drain } from './drain-options.ts';
import { entryArgv } from './entries.ts';
import { keepWarm } from './keep-warm.ts';
import { loadLoops } from './load-loops.ts';
import { logFolder } from './log-folder.ts';
import { prefixOf } from './loop-choice.ts';
import type { Place } from './place.ts';
import { line } from './print.ts';
import { progressReporter } from './progress.ts';
import { ownRegisters } from './registers.ts';
import { scheduleLines } from './schedule-lines.ts';
import { tickLines } from './tick-lines.ts';
import { version } from './version.ts';
import { watchConfig } from './watch-config.ts';

const logBytes = 10 * 1024 * 1024;
const olderLogs = 5;

export interface ResidentOptions {
  readonly place: Place;
  readonly source: ConfigSource;
  /** What a signal of the system means. */
  readonly drain: Drain;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs the daemon in this process until it is asked to end. @throws Fault when its journal could not be written any more */
export const runResident = async (options: ResidentOptions): Promise<void> => {
  const { place, source, env } = options;
  const logFile = path.join(logFolder(place.stateHome), 'engine.log');
  const log = createRotatingLog({ file: logFile, maxBytes: logBytes, keep: olderLogs, clock: Date.now });
  const settings = settingsOf(await source.shared());
  const loops = await loadLoops(source);
  const cycle = await openCycle({
    place,
    env,
    settings,
    reporter: progressReporter((event) => tickLines(event).forEach((text) => log.write(text))),
  });
  const { engine } = cycle;
  const closeRunner = runThroughRunner(entryArgv('runner'));
  const closing: (() => unknown)[] = [];
  try {
    const desk = createTickDesk({
      engine,
      tick: cycle.handlers.tick,
      recovered: cycle.recovered,
      definitionOf: async (name) => ((await source.names()).includes(name) ? (await source.load(name)).definition : undefined),
      prefix: prefixOf(place, source.home),
    });
    const scheduler = createScheduler({
      loops: loops.map((loop) => loop.definition),
      registers: ownRegisters(engine),
      ticks: desk,
      clock: cycle.parts.clock,
      timers: systemTimers,
      repository: place.repository.root,
      env,
      server: settings.server,
      report: (report) => scheduleLines(report).forEach((text) => log.write(text)),
    });
    desk.onEnded(() => scheduler.tickEnded());
    await scheduler.start();
    closing.push(() => scheduler.stop());
    closing.push(watchParked({ engine, desk, clock: cycle.parts.clock, timers: systemTimers, tell: (sentence) => log.write(sentence) }));
    closing.push(keepHouse({ engine, stateHome: place.stateHome, log }));
    closing.push(watchConfig({ source, engine, log, use: (read) => scheduler.reload(read.map((loop) => loop.definition)) }));
    const { pool, parts } = cycle;
    closing.push(
      keepWarm({
        pool,
        count: settings.workspace.warm,
        base: () => parts.resolveBase(undefined),
        makeRoom: cycle.makeRoom,
        tell: (sentence) => log.write(sentence),
      }),
    );
    const state = await sayReady({ cycle, scheduler, logFile, log });
    closing.push(watchStalls((ms) => tellStall({ cycle, state, log, ms })));
    const end = await untilAsked({ cycle, drain: options.drain, log });
    for (const close of closing.splice(0).toReversed()) await close();
    if (end.fault !== undefined) throw end.fault;
    await drain({ cycle, drain: end.drain, log });
  } finally {
    for (const close of closing.toReversed()) await close();
    await Promise.race([cycle[Symbol.asyncDispose](), delay(10_000, undefined, { ref: false })]);
    closeRunner();
    log.write('The engine has ended.');
  }
};

const systemTimers = {
  after: (ms: number, act: () => void): { cancel(): void } => {
    const timer = setTimeout(act, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

const sayReady = async (ready: {
  readonly cycle: Cycle;
  readonly scheduler: Scheduler;
  readonly logFile: string;
  readonly log: RotatingLog;
}): Promise<DaemonState> => {
  const { cycle, scheduler, logFile, log } = ready;
  const { engine, recovered, parts } = cycle;
  const state: DaemonState = {
    epoch: engine.health().epoch,
    version,
    startedAt: parts.clock(),
    log: logFile,
    webhooks: scheduler.address,
  };
  await engine.put([{ register: daemonRegister, key: daemonKey, value: state }]);
  log.write(`Gyre ${version} is up as process ${process.pid}, epoch ${state.epoch}; ${recovered.length} runs go on from before.`);
  if (state.webhooks !== undefined) log.write(`Webhooks are received at http://${state.webhooks.host}:${state.webhooks.port}/hooks/<loop>`);
  line(`Gyre is up as process ${process.pid}; its log is ${logFile}`);
  return state;
};

const tellStall = (stall: { readonly cycle: Cycle; readonly state: DaemonState; readonly log: RotatingLog; readonly ms: number }): void => {
  const { cycle, state, log, ms } = stall;
  log.write(`The engine was busy with one thing for ${ms} ms, longer than ever since it is up.`);
  const value: DaemonState = { ...state, longestStallMs: ms };
  // An engine that cannot write any more says so by itself.
  cycle.engine.put([{ register: daemonRegister, key: daemonKey, value }]).catch(() => undefined);
};

const healthMs = 500;

/** Waits for a signal of the system, a request of another process, or the end of the journal. */
const untilAsked = ({
  cycle,
  drain: bySignal,
  log,
}: {
  readonly cycle: Cycle;
  readonly drain: Drain;
  readonly log: RotatingLog;
}): Promise<{ readonly drain: Drain; readonly fault?: undefined } | { readonly fault: Fault }> =>
  new Promise((resolve) => {
    const { engine, handlers } = cycle;
    let asked = 0;
    const down = (drain: Drain, by: string): void => {
      asked += 1;
      log.write(`Asked to end by ${by}: ${drain.policy}.`);
      // A second asking means now: what is recorded stays, agents go on for the next engine.
      if (asked > 1) process.exit(130);
      stopRequests();
      clearInterval(health);
      resolve({ drain });
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => down(bySignal, signal));
    const stopRequests = watchRequests(engine, {
      down: (drain) => down(drain, 'gyre down'),
      retry: async ({ run, input }) => {
        const row = engine.reader.run(run);
        if (row === undefined || row.endedAt === undefined) return;
        cycle.dispatcher.take(await engine.reopen(handlers.task, row.id, input));
      },
      refused: (sentence) => log.write(sentence),
    });
    const health = setInterval(() => {
      const fault = engine.health().stopped;
      if (fault === undefined) return;
      log.write(`The engine has stopped: ${fault.message} ${fault.hint ?? ''}`.trim());
      stopRequests();
      clearInterval(health);
      resolve({ fault });
    }, healthMs);
  });

const pollMs = 100;

const drain = async ({
  cycle,
  drain: how,
  log,
}: {
  readonly cycle: Cycle;
  readonly drain: Drain;
  readonly log: RotatingLog;
}): Promise<void> => {
  const { engine, dispatcher } = cycle;
  if (how.policy === 'checkpoint') return;
  dispatcher.close('the engine is ending');
  if (how.policy === 'finish') {
    const until = Date.now() + how.timeMs;
    while (engine.health().executing > 0 && Date.now() < until) await delay(pollMs);
    if (engine.health().executing > 0) log.write(`Not finished within ${Math.round(how.timeMs / 1_000)} s: what is left is parked.`);
  }
  const open = engine.reader.runs({ states: ['running', 'pending'] }).map((run) => run.id);
  await engine.cancelAll(interrupted);
  await parkInterrupted({ engine, clock: cycle.parts.clock }, open);
};
