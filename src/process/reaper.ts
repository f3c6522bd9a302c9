// Whether this process takes in orphans: what its descendants leave behind when they end becomes its child. Process 1 does, and one that
// asked for it (PR_SET_CHILD_SUBREAPER), also by way of a program that then became this one. Nothing in /proc tells; so it is tried.
import { spawn } from 'node:child_process';

import { hasProc } from './identity.ts';

// The inner shell waits until it has lost its parent and prints whose child it is then.
const trial = '(while read -r _ _ _ parent _ < /proc/self/stat && [ "$parent" = $$ ]; do sleep 0.01; done; echo "$parent") &';
const boundMs = 5_000;

/** The number of the process that took in an orphan of ours; `undefined` where that was not to be seen. */
const takerOfOrphans = (): Promise<number | undefined> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', trial], { stdio: ['ignore', 'pipe', 'ignore'], timeout: boundMs });
    const timer = setTimeout(() => child.stdout.destroy(), boundMs);
    let said = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text: string) => (said += text));
    child.stdout.once('close', () => {
      clearTimeout(timer);
      resolve(/^\d+\n$/.test(said) ? Number(said) : undefined);
    });
    child.once('error', () => resolve(undefined));
  });

let known: Promise<boolean> | undefined;

/** Tried once. Where it cannot be known, it may be so: `true`. */
export const takesInOrphans = (): Promise<boolean> =>
  (known ??= hasProc ? takerOfOrphans().then((taker) => taker === undefined || taker === process.pid) : Promise.resolve(true));
