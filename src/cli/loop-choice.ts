import path from 'node:path';
import type { ConfigSource, LoadedLoop } from '../config/index.ts';
import { findConfig, goalLoop, settingsOf, type Settings } from '../config/index.ts';
import { Rejection } from '../core/fault.ts';
import type { AgentDefinition, LoopDefinition } from '../core/loop-definition.ts';
import type { Place } from './place.ts';

const noLoops = (): Rejection =>
  new Rejection('There is no loop here: no .gyre/loops/*.md was found from this folder up to the top of the repository.', {
    hint: 'Make one with: gyre init',
  });

/** The configuration that holds for the folder the command was started in. */
export const configOf = (place: Place): ConfigSource => {
  const source = findConfig(place.cwd, place.repository.root);
  if (source === undefined) throw noLoops();
  return source;
};

/** Folder of the loop inside the repository, `/`-separated, '' for its root. */
export const prefixOf = (place: Place, home: string): string => path.relative(place.repository.root, home).split(path.sep).join('/');

/** The loop a person named, or the only one there is. */
export const chooseLoop = async (source: ConfigSource, name: string | undefined): Promise<LoadedLoop> => {
  if (name !== undefined) return await source.load(name);
  const names = await source.names();
  const [only] = names;
  if (only === undefined) throw noLoops();
  if (names.length > 1)
    throw new Rejection(`Which loop? There are ${names.length}: ${names.join(', ')}`, { hint: 'Name one: gyre run <loop>' });
  return await source.load(only);
};

/** The same loop with another agent, by the name a person typed. */
export const withAgent = (loop: LoopDefinition, agent: AgentDefinition | undefined): LoopDefinition =>
  agent === undefined ? loop : { ...loop, agent };

/** The agent a person named on the command line: one this version drives, or a preset of gyre.yaml. */
export const agentNamed = async (source: ConfigSource | undefined, name: string): Promise<AgentDefinition> =>
  // A goal is resolved by the same rules as a loop file, so a name means the same in both places.
  goalLoop({ condition: 'any', check: 'true', agent: name }, await source?.shared()).definition.agent;

/** `--attempts` as a number. */
export const attemptsOf = (text: string): number => {
  const attempts = Number(text);
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 1_000)
    throw new Rejection(`--attempts: found ${text}, wanted a whole number from 1 to 1000.`);
  return attempts;
};

/** What gyre.yaml says about the engine as a whole, found upward from the working folder. @throws Rejection with its issues */
export const settingsAt = async (place: Place): Promise<Settings> =>
  settingsOf(await findConfig(place.cwd, place.repository.root)?.shared());
