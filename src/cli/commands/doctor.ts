import { constants, existsSync } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { knownAgents, probeCommand } from '../../agent/index.ts';
import { findConfig } from '../../config/index.ts';
import { Fault, Rejection } from '../../core/fault.ts';
import { issueText } from '../../core/issue-text.ts';
import { openReader } from '../../journal/index.ts';
import { copiesOnWrite, createGit } from '../../workspace/index.ts';
import { agentOf } from '../compose.ts';
import { refuseWithoutForge } from '../forge.ts';
import { findPlace, type Place } from '../place.ts';
import { line, printJson } from '../print.ts';

interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'bad';
  readonly sentence: string;
}

/** Oldest git whose `merge-tree --write-tree` exists: landings are combined without a checkout. */
const oldestGit = [2, 38] as const;

export const doctor = async (options: { readonly json?: boolean }): Promise<void> => {
  const findings: Finding[] = [{ what: 'node', state: 'ok', sentence: `Node ${process.versions.node}` }];
  const place = await attempt(findings, 'repository', () => findPlace());
  if (place !== undefined) {
    findings.push({ what: 'repository', state: 'ok', sentence: place.repository.root });
    findings.push(await gitVersion(place), await stateHome(place), ...(await copying(place)));
    const journal = await attempt(findings, 'journal', async () => journalState(place));
    if (journal !== undefined) findings.push(journal);
    findings.push(...(await loops(place)));
  }
  for (const agent of knownAgents) {
    const probe = await probeCommand(agent.command, process.env);
    const sentence = probe.installed
      ? `${agent.name} ${probe.version ?? ''} at ${probe.path ?? ''}${agent.usable === 'native' ? '' : ' (installed; no adapter of its own in this version, usable as `agent: { use: command }`)'}`
      : `${agent.name} is not installed`;
    findings.push({ what: 'agent', state: probe.installed ? 'ok' : 'note', sentence });
  }
  if (findings.some((finding) => finding.state === 'bad')) process.exitCode = 2;
  if (options.json === true) {
    printJson(findings);
    return;
  }
  for (const { what, state, sentence } of findings) line(`${state.padEnd(4)}  ${what.padEnd(10)}  ${sentence}`);
};

const attempt = async <T>(findings: Finding[], what: string, make: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof Rejection) && !(error instanceof Fault)) throw error;
    findings.push({ what, state: 'bad', sentence: `${error.message} ${error.hint ?? ''}`.trim() });
    if (error instanceof Rejection) for (const issue of error.issues) findings.push({ what, state: 'bad', sentence: issueText(issue) });
    return undefined;
  }
};

const gitVersion = async (place: Place): Promise<Finding> => {
  const text = await createGit(place.repository.root).line(['--version']);
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text)?.slice(1) ?? []).map(Number);
  const enough = major > oldestGit[0] || (major === oldestGit[0] && minor >= oldestGit[1]);
  return {
    what: 'git',
    state: enough ? 'ok' : 'bad',
    sentence: enough ? text : `${text} is too old: ${oldestGit.join('.')} or newer is needed.`,
  };
};

const nearestThere = (dir: string): string => (existsSync(dir) ? dir : nearestThere(path.dirname(dir)));

/** Looks and makes nothing: a state home that is not there yet can be made where the folder above it takes one. */
const stateHome = async ({ stateHome: dir }: Place): Promise<Finding> => {
  try {
    const there = nearestThere(dir);
    await access(there, constants.W_OK);
    // A file in the place of a folder is refused here.
    await readdir(there);
    return { what: 'state', state: 'ok', sentence: dir };
  } catch (error) {
    return { what: 'state', state: 'bad', sentence: `${dir} cannot be written: ${error instanceof Error ? error.message : String(error)}` };
  }
};

/** Asks the disk with a file that is gone again at once. */
const copying = async ({ stateHome: dir }: Place): Promise<readonly Finding[]> => {
  const cheap = await copiesOnWrite(nearestThere(dir)).catch(() => undefined);
  if (cheap === undefined) return [];
  const sentence = cheap
    ? 'copies on write: dependency folders of workspaces share their blocks until one changes them'
    : 'does not copy on write: dependency folders of workspaces are copied byte by byte';
  return [{ what: 'disk', state: 'ok', sentence }];
};

const journalState = (place: Place): Finding => {
  const reader = openReader(place.stateHome);
  const owner = reader?.owner();
  if (reader === undefined) return { what: 'journal', state: 'ok', sentence: 'none yet' };
  const facts = reader.verify();
  if (!facts.ok) return { what: 'journal', state: 'bad', sentence: `damaged at fact ${facts.seq}: ${facts.why}` };
  const held = owner?.alive === true ? `, in use by process ${owner.identity.pid}` : '';
  return { what: 'journal', state: 'ok', sentence: `${facts.facts} facts, chain unbroken${held}` };
};

const loops = async (place: Place): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  const source = findConfig(place.cwd, place.repository.root);
  const names = (await source?.names()) ?? [];
  if (source === undefined || names.length === 0) return [{ what: 'loop', state: 'note', sentence: 'none yet; make one with: gyre init' }];
  for (const name of names) {
    const loaded = await attempt(findings, 'loop', () => source.load(name));
    if (loaded === undefined) continue;
    await attempt(findings, 'loop', () =>
      refuseWithoutForge(loaded.definition, { root: place.repository.root, home: source.home, env: process.env }),
    );
    const { installed, problem } = await agentOf(loaded.definition, { home: source.home, env: process.env }).probe();
    findings.push(
      installed ? { what: 'loop', state: 'ok', sentence: name } : { what: 'loop', state: 'bad', sentence: `${name}: ${problem}` },
    );
  }
  return findings;
};
