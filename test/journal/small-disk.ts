// A real small file system for the tests of a full and a read-only disk, where this machine lets one be mounted.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface SmallDisk extends Disposable {
  readonly folder: string;
  remount(how: 'ro' | 'rw'): void;
}

/** @returns undefined where mounting is refused */
export const mountSmallDisk = (mebibytes: number): SmallDisk | undefined => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gyre-small-disk-'));
  const run = (command: string, ...args: string[]): void => void execFileSync(command, args, { stdio: 'ignore' });
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'gyre-test', folder);
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  return {
    folder,
    remount: (how) => run('mount', '-o', `remount,${how}`, folder),
    [Symbol.dispose]: () => {
      run('umount', '--lazy', folder);
      rmdirSync(folder);
    },
  };
};

/** Whether this machine mounts file systems for us; tests say in their titles which full disk they mean. */
export const canMount = ((): boolean => {
  const disk = mountSmallDisk(1);
  disk?.[Symbol.dispose]();
  return disk !== undefined;
})();
