import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Scene } from '../testkit/scene.ts';

const boundMs = 60_000;

/** Waits for what a daemon does in its own time. @throws with what the daemon's log says when it does not come */
export const until = async (holds: () => Promise<boolean>): Promise<void> => {
  const end = Date.now() + boundMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`did not come within ${boundMs / 1_000} s`);
    await delay(100);
  }
};

export const bringUp = async (scene: Scene): Promise<void> => {
  const up = await scene.gyre('up');
  expect(up.code, up.all).toBe(0);
};

export const bringDown = async (scene: Scene): Promise<void> => {
  const down = await scene.gyre('down');
  expect(down.code, down.all).toBe(0);
};

export const daemonPid = async (scene: Scene): Promise<number> =>
  (await scene.json<{ readonly daemon: { readonly identity: { readonly pid: number } } }>('status')).daemon.identity.pid;
