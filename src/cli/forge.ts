// Where issues are tracked and changes proposed, found from gyre.yaml, the remote and the environment.
import { setTimeout as pause } from 'node:timers/promises';
import { findConfig, settingsOf } from '../config/index.ts';
import { createGithub, githubAddress, type AddressProblem, type Forge, type ForgeAddress } from '../connect/index.ts';
import { Fault, Rejection } from '../core/fault.ts';
import { epochMs } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import { createGit } from '../workspace/index.ts';

export interface ForgePlace {
  /** Top folder of the repository. */
  readonly root: string;
  /** Folder of the configuration, inside of it. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const addressOf = async ({ root, home, env }: ForgePlace): Promise<ForgeAddress | AddressProblem> => {
  const settings = settingsOf(await findConfig(home, root)?.shared()).connect.github;
  const { code, bytes } = await createGit(root).run(['remote', 'get-url', 'origin'], { allow: [2, 128] });
  return githubAddress({ settings, origin: code === 0 ? bytes.toString('utf8').trim() : undefined, env });
};

/** The forge of a repository, looked up when it is first needed. @throws Fault `FORGE_NOT_SET_UP`, from the function it returns */
export const lazyForge = (place: ForgePlace): (() => Promise<Forge>) => {
  let found: Promise<Forge> | undefined;
  const find = async (): Promise<Forge> => {
    const address = await addressOf(place);
    if ('problem' in address) throw new Fault('FORGE_NOT_SET_UP', `GitHub is needed, and ${address.problem}.`, { hint: address.hint });
    return createGithub(address, { now: () => epochMs(Date.now()), pause: (ms) => pause(ms) });
  };
  return () => (found ??= find());
};

/** What of a loop needs the forge, by its keys. */
const needs = (loop: LoopDefinition): readonly string[] => [
  ...(loop.discover.some((entry) => entry.from === 'issues') ? ['discover.issues'] : []),
  ...(loop.land.as === 'pull-request' ? ['land.as: pull-request'] : []),
];

/**
 * Refuses a loop that cannot find its work or bring it in, before anything is paid for.
 * @throws Rejection when the loop needs GitHub, and a remote, a repository or a token is missing
 */
export const refuseWithoutForge = async (loop: LoopDefinition, place: ForgePlace): Promise<void> => {
  const keys = needs(loop);
  if (keys.length === 0) return;
  const address = await addressOf(place);
  if ('problem' in address)
    throw new Rejection(`Loop ${loop.name} needs GitHub (${keys.join(', ')}), and ${address.problem}.`, { hint: address.hint });
};
