import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { knownAgents, probeCommand } from '../../agent/index.ts';
import { findConfig } from '../../config/index.ts';
import { Rejection } from '../../core/fault.ts';
import { detectStack, type Stack } from '../init/detect-stack.ts';
import { firstLoop } from '../init/first-loop.ts';
import { findPlace } from '../place.ts';
import { line, printJson } from '../print.ts';

export interface InitOptions {
  readonly loop: string;
  readonly agent?: string;
  readonly test?: string;
  readonly json?: boolean;
}

const loopName = /^[a-z0-9][a-z0-9-]{0,47}$/;

export const init = async (options: InitOptions): Promise<void> => {
  const place = await findPlace();
  if (!loopName.test(options.loop))
    throw new Rejection(`--loop: found ${JSON.stringify(options.loop)}, wanted lower-case letters, digits and dashes, at most 48.`);
  const file = path.join(place.cwd, '.gyre', 'loops', `${options.loop}.md`);
  const stack = await stackOf(place.cwd, options.test);
  const agents = await Promise.all(knownAgents.map(async (agent) => ({ agent, probe: await probeCommand(agent.command, process.env) })));
  const installed = agents.filter(({ probe }) => probe.installed);
  const usable = installed.find(({ agent }) => agent.usable === 'native')?.agent.name;
  const agent = options.agent ?? usable ?? 'claude';

  await mkdir(path.dirname(file), { recursive: true });
  try {
    // `wx`: a loop somebody wrote is never overwritten.
    await writeFile(file, firstLoop({ test: stack.test, setup: stack.setup, agent }), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Rejection(`${path.relative(place.cwd, file)} exists already; nothing was changed.`, {
      hint: `Edit it, or choose another name: gyre init --loop <name>`,
    });
  }
  // What was written must load: a template that its own schema refuses would be found by the user otherwise.
  await findConfig(place.cwd, place.repository.root)?.load(options.loop);

  if (options.json === true) {
    printJson({
      file,
      loop: options.loop,
      detected: stack,
      agent,
      agentsFound: installed.map(({ agent: one, probe }) => ({ name: one.name, version: probe.version })),
    });
    return;
  }
  line(
    `Detected: ${stack.name}; tests are run with \`${stack.test}\`${stack.setup === undefined ? '' : `, a fresh checkout is prepared with \`${stack.setup}\``}.`,
  );
  line(
    installed.length === 0
      ? 'No agent CLI was found on PATH.'
      : `Agents found: ${installed.map(({ agent: one, probe }) => `${one.name} ${probe.version ?? ''}`.trim()).join(', ')}.`,
  );
  line(`Wrote ${path.relative(place.cwd, file)} with agent ${agent}, in report mode: it repairs and verifies, and lands nothing.`);
  if (options.agent === undefined && usable === undefined)
    line('Install Claude Code, or name another agent in that file, before the first run.');
  line();
  line(`Next: gyre run ${options.loop} --dry-run    what would be done, at no cost`);
  line(`      gyre run ${options.loop}              do it and report`);
  line('      land: { as: branch } in the file   when you trust what you see');
};

const stackOf = async (dir: string, given: string | undefined): Promise<Stack> => {
  const names = new Set(await readdir(dir));
  const texts = new Map<string, string>();
  for (const name of ['package.json', 'Makefile', 'pyproject.toml', 'setup.cfg', 'tox.ini', 'requirements.txt', 'setup.py', 'pytest.ini'])
    if (names.has(name)) texts.set(name, await readFile(path.join(dir, name), 'utf8').catch(() => ''));
  const found = detectStack({ names, text: (name) => texts.get(name) });
  if (given !== undefined) return { name: found?.name ?? 'a project of your own kind', test: given, setup: found?.setup };
  if (found !== undefined) return found;
  throw new Rejection('No test command was found in this folder; nothing was changed.', { hint: 'Name it: gyre init --test "<command>"' });
};
