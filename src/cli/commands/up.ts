import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { exitCodes } from '../../core/exit.ts';
import { Fault } from '../../core/fault.ts';
import { openReader } from '../../journal/index.ts';
import { comeUp } from '../came-up.ts';
import { daemonOf, type Daemon } from '../daemon-state.ts';
import { drainOf } from '../drain-options.ts';
import { entryArgv } from '../entries.ts';
import { logFolder } from '../log-folder.ts';
import { refuseWithoutForge } from '../forge.ts';
import { loadLoops } from '../load-loops.ts';
import { configOf, settingsAt } from '../loop-choice.ts';
import { findPlace, type Place } from '../place.ts';
import { line, printJson } from '../print.ts';
import { runResident } from '../resident.ts';

export interface UpOptions {
  readonly foreground?: boolean;
  readonly drain?: string;
  readonly time?: string;
  readonly json?: boolean;
}

/** How long a new daemon may take until it says that it is at work: it settles what a dead engine left first. */
const readyMs = 60_000;
const pollMs = 100;

export const up = async (options: UpOptions): Promise<void> => {
  const place = await findPlace();
  const source = configOf(place);
  const drain = drainOf(options, await settingsAt(place));
  // Everything is read before anything starts, so that what is wrong is said here and not into a log.
  const loops = await loadLoops(source);
  for (const { definition } of loops)
    await refuseWithoutForge(definition, { root: place.repository.root, home: source.home, env: process.env });
  refuseSecond(place);
  if (options.foreground === true) {
    await comeUp(place.stateHome, () => runResident({ place, source, drain, env: process.env }));
    return;
  }
  for (const { notices } of loops) for (const notice of notices) process.stderr.write(`note: ${notice.sentence}\n`);
  const daemon = await startDetached(place, options);
  if (options.json === true) printJson({ pid: daemon.identity.pid, log: daemon.log, loops: loops.map((loop) => loop.definition.name) });
  else {
    line(
      `Gyre is up as process ${daemon.identity.pid} with ${loops.length} loop${loops.length === 1 ? '' : 's'}; its log is ${daemon.log}`,
    );
    line('What comes next: gyre schedule. What it does: gyre status. To end it: gyre down');
  }
};

/** Says who holds the state home before a second daemon is made; the lock itself decides. */
const refuseSecond = (place: Place): void => {
  const reader = openReader(place.stateHome);
  try {
    const owner = reader?.owner();
    if (owner?.alive !== true) return;
    const daemon = daemonOf(reader);
    const { pid } = owner.identity;
    throw new Fault(
      'STATE_HOME_HELD',
      daemon === undefined
        ? `Process ${pid}, a single command such as gyre run, is at work here.`
        : `Gyre is up here already, as process ${pid} since ${new Date(daemon.startedAt).toISOString()}.`,
      {
        hint:
          daemon === undefined
            ? 'Start the daemon when it has ended.'
            : 'gyre status shows what it does, gyre restart starts it anew, gyre down ends it.',
      },
    );
  } finally {
    reader?.[Symbol.dispose]();
  }
};

/** Starts the daemon as a process of its own session and waits until it owns the state home. */
export const startDetached = async (place: Place, options: UpOptions): Promise<Daemon> => {
  const logs = logFolder(place.stateHome);
  // What the process itself says before its log is open, and the last words of one that dies.
  const outFile = path.join(logs, 'start.txt');
  const out = openSync(outFile, 'w', 0o600);
  const [program = process.execPath, ...args] = entryArgv('main');
  const flags = [
    ...(options.drain === undefined ? [] : ['--drain', options.drain]),
    ...(options.time === undefined ? [] : ['--time', options.time]),
  ];
  const child = spawn(program, [...args, 'up', '--foreground', ...flags], {
    cwd: place.cwd,
    env: process.env,
    detached: true,
    stdio: ['ignore', out, out],
  });
  closeSync(out);
  child.unref();
  let ended: { readonly code: number | null } | undefined;
  child.once('exit', (code) => (ended = { code }));
  child.once('error', () => (ended ??= { code: null }));
  const until = Date.now() + readyMs;
  while (Date.now() < until) {
    const reader = openReader(place.stateHome);
    const daemon = daemonOf(reader);
    reader?.[Symbol.dispose]();
    if (daemon !== undefined && daemon.identity.pid === child.pid) return daemon;
    if (ended !== undefined) {
      process.stderr.write(readFileSync(outFile, 'utf8'));
      process.exit(ended.code === null || ended.code === 0 ? exitCodes.fault : ended.code);
    }
    await delay(pollMs);
  }
  throw new Fault('DAEMON_NOT_READY', `The daemon (process ${child.pid}) did not say within ${readyMs / 1_000} s that it is at work.`, {
    hint: `It may still come up: gyre status shows it. What it said is in ${outFile}`,
  });
};
