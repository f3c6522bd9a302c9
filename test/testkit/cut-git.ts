// A git in front of the real one that dies in the midst of moving refs: git moves the refs of one transaction one after another, and a
// kill between two of them leaves the first ones moved.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { remove, temporaryFolder } from './repositories.ts';

const front = (real: string, cutter: string, plan: string): string => `#!/bin/sh
case " $* " in *" update-ref "*) [ ! -e '${plan}' ] || exec '${process.execPath}' '${cutter}' "$@" ;; esac
exec '${real}' "$@"
`;

const cutterOf = (real: string, plan: string): string => `
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const git = (args, input) => spawnSync(${JSON.stringify(real)}, args, { input, stdio: [input === undefined ? 'inherit' : 'pipe', 'inherit', 'inherit'] });
const args = process.argv.slice(2);
const plan = ${JSON.stringify(plan)};
if (args.includes('--stdin')) {
  const before = args.slice(0, args.indexOf('update-ref'));
  const fields = fs.readFileSync(0, 'utf8').split('\\0');
  let left = Number(fs.readFileSync(plan, 'utf8'));
  for (let at = 0; at < fields.length; at += 1) {
    if (!fields[at].startsWith('update ')) continue;
    if (left === 0) {
      fs.rmSync(plan);
      process.kill(process.pid, 'SIGKILL');
    }
    left -= 1;
    const [ref, to, old] = [fields[at].slice(7), fields[at + 1], fields[at + 2]];
    const { status } = git([...before, 'update-ref', '-m', 'gyre', ref, to, ...(old === '' ? [] : [old])]);
    if (status !== 0) process.exit(status);
  }
  fs.writeFileSync(plan, String(left));
  process.exit(0);
}
const { status } = git(args);
process.exit(status === null ? 128 : status);
`;

export interface CutGit extends Disposable {
  /** From now on git is killed before it moves the ref after so many. */
  readonly after: (refs: number) => void;
  /** Whether it was killed; the cut is over then, or taken back. */
  readonly wasCut: () => boolean;
}

/** Puts such a git in front of PATH until it is disposed of. */
export const cutGit = (): CutGit => {
  const dir = temporaryFolder('cut-git');
  const plan = path.join(dir, 'plan');
  const before = process.env['PATH'];
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const cutter = path.join(dir, 'cutter.cjs');
  fs.writeFileSync(cutter, cutterOf(real, plan));
  fs.writeFileSync(path.join(dir, 'git'), front(real, cutter, plan), { mode: 0o755 });
  process.env['PATH'] = `${dir}:${before}`;
  return {
    after: (refs) => fs.writeFileSync(plan, String(refs)),
    wasCut: () => {
      if (!fs.existsSync(plan)) return true;
      fs.rmSync(plan);
      return false;
    },
    [Symbol.dispose]: () => {
      process.env['PATH'] = before;
      remove(dir);
    },
  };
};
