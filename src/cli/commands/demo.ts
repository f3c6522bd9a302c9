import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { exitCodes } from '../../core/exit.ts';
import { Fault } from '../../core/fault.ts';
import type { TickReport } from '../tick-report.ts';
import { fileURLToPath } from 'node:url';
import { line, printJson } from '../print.ts';
import { run } from './run.ts';

const exec = promisify(execFile);

/** The sample stands beside `src/` in a clone and beside `dist/` in the package. */
const sampleDir = (): string => {
  const up = import.meta.url.endsWith('.ts') ? '../../../demo/sample' : '../demo/sample';
  return fileURLToPath(new URL(up, import.meta.url));
};

const git = async (dir: string, ...args: string[]): Promise<string> => {
  const identity = ['-c', 'user.name=Gyre demo', '-c', 'user.email=demo@localhost', '-c', 'commit.gpgsign=false'];
  return (await exec('git', [...identity, ...args], { cwd: dir })).stdout.trim();
};

const checkoutState = async (dir: string): Promise<string> =>
  JSON.stringify([
    await git(dir, 'rev-parse', 'HEAD'),
    await git(dir, 'symbolic-ref', 'HEAD'),
    (await readFile(path.join(dir, '.git', 'index'))).toString('base64'),
    await readFile(path.join(dir, '.git', 'config'), 'utf8'),
    await git(dir, '--no-optional-locks', 'status', '--porcelain'),
    await readFile(path.join(dir, 'notes.txt'), 'utf8'),
  ]);

export const demo = async (options: { readonly agent?: string; readonly keep?: boolean; readonly json?: boolean }): Promise<void> => {
  const begun = performance.now();
  const root = await mkdtemp(path.join(os.tmpdir(), 'gyre-demo-'));
  const dir = path.join(root, 'sample');
  const tell = (text = ''): void => {
    if (options.json !== true) line(text);
  };
  const home = process.cwd();
  try {
    await cp(sampleDir(), dir, { recursive: true });
    await git(dir, 'init', '--quiet', '--initial-branch=main');
    await git(dir, 'add', '--all');
    await git(dir, 'commit', '--quiet', '--message', 'Sample project with three failing tests');
    // The person is on a branch of their own with unsaved work; none of it may be touched.
    await git(dir, 'switch', '--quiet', '--create', 'my-work');
    await cp(path.join(dir, 'package.json'), path.join(dir, 'notes.txt'));
    const before = await checkoutState(dir);

    tell(`A sample repository with three failing tests: ${dir}`);
    tell(
      options.agent === undefined
        ? 'The agent is a script: no model is called, nothing is paid. Everything else is real.'
        : `The agent is ${options.agent}: a real one, which may cost money.`,
    );
    tell();
    // The demo keeps its state beside its repository, so that trying it leaves no trace.
    process.env['XDG_STATE_HOME'] = path.join(root, 'state');
    process.chdir(dir);
    const report = await run('repair', {
      ...(options.agent === undefined ? {} : { agent: options.agent }),
      ...(options.json === true ? { quiet: true } : {}),
    });
    const same = (await checkoutState(dir)) === before;
    const landed = report.runs.filter((one) => one.output.exit.exit === 'goal-met').length;
    const refused = report.runs.filter((one) => one.output.exit.exit === 'parked').length;
    const log = await git(dir, 'log', '--format=%h %s', 'main');
    const seconds = (performance.now() - begun) / 1_000;
    if (options.json === true) printJson({ landed, refused, checkoutUnchanged: same, seconds, report });
    else {
      tell();
      tell(`main now:\n${log.replaceAll(/^/gm, '  ')}`);
      tell();
      tell(
        `${landed} of ${report.runs.length} repaired, verified and landed; ${refused} refused and parked for a person; ${seconds.toFixed(1)} s.`,
      );
      tell(`Your checkout (branch my-work, an unsaved file) is ${same ? 'byte for byte what it was' : 'CHANGED, which must not happen'}.`);
    }
    process.exitCode = verdictOnDemo({ report, landed, refused, same, scripted: options.agent === undefined });
  } finally {
    process.chdir(home);
    if (options.keep === true) tell(`Kept: ${dir} (state in ${path.join(root, 'state')})`);
    else await rm(root, { recursive: true, force: true });
  }
};

/** The scripted demo promises an exact course; a real agent may do better or worse, so only the checkout is promised there. */
const verdictOnDemo = (seen: {
  readonly report: TickReport;
  readonly landed: number;
  readonly refused: number;
  readonly same: boolean;
  readonly scripted: boolean;
}): number => {
  if (!seen.same) throw new Fault('DEMO_CHECKOUT_CHANGED', 'The demo changed the checkout it must not touch.');
  if (!seen.scripted) return seen.report.exitCode;
  if (seen.landed === 2 && seen.refused === 1 && seen.report.runs.length === 3) return 0;
  process.stderr.write('gyre: the demo did not go as it is written; see the lines above.\n');
  return exitCodes.fault;
};
