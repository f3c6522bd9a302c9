import { execFileSync } from 'node:child_process';
import type { Scene } from '../testkit/scene.ts';

export interface StatusRun {
  readonly run: string;
  readonly task: string;
  readonly title: string;
  readonly state: string;
  readonly exit?: { readonly exit: string; readonly by?: string; readonly why?: string };
  readonly landed?: {
    readonly landed: string;
    readonly branch?: string;
    readonly commit?: string;
    readonly why?: string;
    readonly ref?: string;
  };
  readonly attempts: number;
}

export const runsOf = async (scene: Scene): Promise<readonly StatusRun[]> =>
  (await scene.json<{ runs: readonly StatusRun[] }>('status')).runs;

export const lastRun = async (scene: Scene): Promise<StatusRun> => {
  const run = (await runsOf(scene)).at(-1);
  if (run === undefined) throw new Error('no run was made');
  return run;
};

export interface AttemptOf {
  readonly record: {
    readonly attempt: number;
    readonly verdict: string;
    readonly summary: string;
    readonly kinds: readonly string[];
    readonly agentOutcome: string;
  };
  readonly candidate?: string;
  readonly evidence?: string;
  readonly prompt: string;
  readonly agent?: {
    readonly text: string;
    readonly process: { readonly wasAdopted: boolean; readonly orphansKilled: number };
    readonly spend: { readonly usd?: number; readonly tokens?: number };
    readonly stdout: { readonly path: string; readonly bytesSeen: number; readonly bytesKept: number; readonly cut: boolean };
  };
}

export const attemptsOf = async (scene: Scene, run: string): Promise<readonly AttemptOf[]> =>
  (await scene.json<{ attemptViews: readonly AttemptOf[] }>('show', run)).attemptViews;

/** Text of a file in a commit or branch of the scene's repository. */
export const fileAt = (scene: Scene, revision: string, file: string): string =>
  execFileSync('git', ['show', `${revision}:${file}`], { cwd: scene.repo, env: scene.env, encoding: 'utf8' });

/** Exact names of what a revision changed against its parent. */
export const changedIn = (scene: Scene, revision: string): readonly string[] =>
  execFileSync('git', ['diff', '--name-only', '-z', '--no-renames', `${revision}^`, revision], {
    cwd: scene.repo,
    env: scene.env,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((name) => name !== '')
    .toSorted();

export const gyreBranches = (scene: Scene): readonly string[] =>
  scene
    .git('for-each-ref', '--format=%(refname:short)', 'refs/heads/gyre')
    .split('\n')
    .filter((name) => name !== '');

/** Refs of the bare remote, which nothing in this version may change. */
export const remoteRefs = (scene: Scene): string =>
  execFileSync('git', ['show-ref'], { cwd: scene.remote, env: scene.env, encoding: 'utf8' });
