// How other processes wake an engine: they touch the file `wake` in its state home after they wrote into the journal. The poll is the net.
import { type FSWatcher, watch, writeFileSync } from 'node:fs';
import path from 'node:path';

const wakeFile = (stateHome: string): string => path.join(stateHome, 'wake');

/** Tells a serving engine to look at once. Never fails: the engine looks by itself a moment later. */
export const touchWake = (stateHome: string): void => {
  try {
    writeFileSync(wakeFile(stateHome), '.');
  } catch {
    // A full disk or a folder that is gone: the engine's poll finds the request.
  }
};

/** @returns undefined when the system has no watch to give */
export const watchWake = (stateHome: string, onWake: () => void): Pick<FSWatcher, 'close'> | undefined => {
  try {
    touchWake(stateHome);
    const watcher = watch(wakeFile(stateHome), { persistent: false }, onWake);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
};
