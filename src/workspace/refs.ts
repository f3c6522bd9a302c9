import { createHash } from 'node:crypto';
import { Defect } from '../core/fault.ts';
import type { Git } from './git.ts';

// Every ref of Gyre is under refs/gyre/, where no tool of the user shows or pushes it by itself:
//   refs/gyre/runs/<run>/base        the commit the run started from
//   refs/gyre/runs/<run>/a<n>        candidate of attempt n: base plus one commit
//   refs/gyre/runs/<run>/a<n>-head   where the agent's own HEAD stood, with its own commits
//   refs/gyre/runs/<run>/a<n>-facts  blob: what else was seen at that commit, as JSON
//   refs/gyre/runs/<run>/a<n>-left<k> commits the agent made and moved away from
//   refs/gyre/saved/<run>            work of a workspace that was freed by a person

const runName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** Fails for a name that would not stay one piece of a path and of a ref. */
export const checkName = (name: string): string => {
  if (!runName.test(name)) throw new Defect(`Not a name for a folder and a ref: ${JSON.stringify(name.slice(0, 120))}`);
  return name;
};

export const runRef = (run: string, leaf: string): string => `refs/gyre/runs/${checkName(run)}/${leaf}`;
export const savedRef = (run: string): string => `refs/gyre/saved/${checkName(run)}`;

/** `from`: the value it must have now, `absent` = must not exist, `any` = whatever it is. `to`: `as-it-is` only looks. */
export interface RefUpdate {
  readonly ref: string;
  readonly to: string;
  readonly from: string;
}

const zero = (like: string): string => '0'.repeat(like.length);

const lineOf = ({ ref, to, from }: RefUpdate): string => {
  // Without a value, `verify` wants that there is no such ref.
  if (to === 'as-it-is') return `verify ${ref}\0${from === 'absent' ? '' : from}\0`;
  const old = from === 'any' ? '' : from === 'absent' ? zero(to) : from;
  return `update ${ref}\0${to}\0${old}\0`;
};

/**
 * Moves refs, one group after another; a group of which one ref is not what it was said to be moves nothing, and none after it is begun.
 * Git moves the refs of a group one by one, so a kill may leave a part of a group moved, but never one of a later group: what says that
 * several refs are there belongs into a group after theirs.
 * @throws Fault `GIT_FAILED` when a ref is not what it was said to be
 */
export const updateRefs = async (
  git: Git,
  groups: readonly (readonly RefUpdate[])[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const input = groups.filter((group) => group.length > 0).map((group) => `start\0${group.map(lineOf).join('')}prepare\0commit\0`);
  await git.run(['update-ref', '-m', 'gyre', '--stdin', '-z'], { input: input.join(''), env });
};

/** The object a ref names, if it exists. */
export const readRef = async (git: Git, ref: string): Promise<string | undefined> => {
  const { code, bytes } = await git.run(['show-ref', '--verify', '--hash', '--', ref], { allow: [1, 128] });
  return code === 0 ? bytes.toString('utf8').trim() : undefined;
};

/** Refs below a prefix with the objects they name. */
export const listRefs = async (git: Git, ...prefixes: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const out = await git.line(['for-each-ref', '--format=%(refname)%00%(objectname)', '--', ...prefixes]);
  const pairs = out.split('\n').filter((line) => line !== '');
  return new Map(pairs.map((line) => [line.split('\0')[0] ?? '', line.split('\0')[1] ?? '']));
};

/** Puts a value into the object store as JSON and gives its name. */
export const writeFacts = (git: Git, facts: unknown): Promise<string> =>
  git.line(['hash-object', '-w', '--stdin'], { input: JSON.stringify(facts) });

export const readFacts = async (git: Git, ref: string): Promise<unknown> => {
  const blob = await readRef(git, ref);
  return blob === undefined ? undefined : JSON.parse(await git.line(['cat-file', 'blob', blob]));
};

/** Short stable name for a text that may hold anything. */
export const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);
