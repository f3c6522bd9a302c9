// How long a workspace takes on a large repository: plain `git worktree add`, Gyre's new one, one from a spare folder, and one from the
// folder of a finished run. All figures of one call come from one run on one machine; ratios are taken within it.
// Usage: npm run bench:workspace [-- --json] [-- --files n] [-- --times n]
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { commitSha, epochMs } from '../src/core/ids.ts';
import { createPool, createWorkspaces, findRepository } from '../src/workspace/index.ts';
import { machineFacts, median, printTable } from './table.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    files: { type: 'string', default: '100000' },
    times: { type: 'string', default: '4' },
  },
});
const files = Number(values.files);
const times = Number(values.times);
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gyre-bench-'));
process.env['HOME'] = root;
process.env['XDG_CONFIG_HOME'] = path.join(root, 'config');

const git = (dir: string, args: readonly string[], input?: Buffer): string =>
  execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid', ...args], {
    cwd: dir,
    input,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
    .toString()
    .trim();

/** Two commits, one folder for each hundred files; the second changes every hundredth file. Written by fast-import, checked out nowhere. */
const makeRepository = (): { readonly dir: string; readonly first: string; readonly second: string } => {
  const dir = path.join(root, 'repository');
  fs.mkdirSync(dir);
  git(dir, ['init', '--quiet', '--initial-branch=main']);
  const parts: string[] = [];
  const commit = (mark: number, from: string): void =>
    void parts.push(`commit refs/heads/main\nmark :${mark}\ncommitter bench <bench@example.invalid> ${mark} +0000\ndata 1\nx\n${from}`);
  const file = (index: number, text: string): void =>
    void parts.push(
      `M 100644 inline src/d${Math.floor(index / 10_000)}/d${Math.floor(index / 100)}/f${index}.ts\ndata ${text.length}\n${text}\n`,
    );
  commit(1, '');
  for (let index = 0; index < files; index += 1) file(index, `export const value${index} = ${index};\n`.repeat(10));
  commit(2, 'from :1\n');
  for (let index = 0; index < files; index += 100) file(index, `export const value${index} = ${-index};\n`);
  git(dir, ['fast-import', '--quiet'], Buffer.from(parts.join('')));
  return { dir, first: git(dir, ['rev-parse', 'main^']), second: git(dir, ['rev-parse', 'main']) };
};

/** What was written before is on disk first: otherwise a step pays for the one before it. */
const timed = async (work: () => unknown): Promise<number> => {
  execFileSync('sync');
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

try {
  const made = makeRepository();
  const repository = await findRepository(made.dir);
  const stateHome = path.join(root, 'state');
  const pool = createPool({ repository, dir: path.join(stateHome, 'pool'), entriesMin: 1 });
  const workspaces = createWorkspaces({ repository, stateHome, clock: () => epochMs(Date.now()), pool });
  const base = commitSha(made.first);
  const later = commitSha(made.second);
  const seen: Record<'plain' | 'new' | 'spare' | 'recycled' | 'moved' | 'removePlain' | 'release', number[]> = {
    plain: [],
    new: [],
    spare: [],
    recycled: [],
    moved: [],
    removePlain: [],
    release: [],
  };
  for (let round = 0; round < times; round += 1) {
    // Each goes first in every other round.
    const addPlain = async (): Promise<void> => {
      const plain = path.join(root, `plain${round}`);
      seen.plain.push(await timed(() => git(made.dir, ['worktree', 'add', '--quiet', '--detach', plain, base])));
      seen.removePlain.push(await timed(() => git(made.dir, ['worktree', 'remove', '--force', plain])));
    };
    if (round % 2 === 0) await addPlain();
    seen.new.push(await timed(() => workspaces.open(`new${round}`, base)));
    seen.release.push(await timed(() => workspaces.release(`new${round}`, [])));
    if (round % 2 === 1) await addPlain();
    seen.recycled.push(await timed(() => workspaces.open(`recycled${round}`, base)));
    await workspaces.release(`recycled${round}`, []);
    seen.moved.push(await timed(() => workspaces.open(`moved${round}`, later)));
    await workspaces.release(`moved${round}`, []);
    await pool.shrink(0);
    await pool.warm(1, base);
    seen.spare.push(await timed(() => workspaces.open(`spare${round}`, base)));
    await workspaces.release(`spare${round}`, []);
    await pool.shrink(0);
  }
  await pool.close();
  const plainMs = median(seen.plain);
  const rows = (Object.keys(seen) as (keyof typeof seen)[]).map((name) => ({
    name,
    ms: median(seen[name]),
    ratio: median(seen[name]) / plainMs,
  }));
  const figures = { machine: machineFacts(), files, times, ms: seen };
  const told: Readonly<Record<keyof typeof seen, string>> = {
    plain: 'git worktree add',
    new: 'new workspace, with what later proves it',
    spare: 'from a spare folder at the commit',
    recycled: 'from the folder of a finished run',
    moved: 'the same at another commit (1 % of the files differ)',
    removePlain: 'git worktree remove',
    release: 'release of a finished workspace to the pool',
  };
  if (values.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else {
    process.stdout.write(`${figures.machine}\n${files} files, median of ${times}\n\n`);
    printTable(
      ['what', 'ms', 'to git worktree add', 'each'],
      rows.map((row) => [told[row.name], row.ms.toFixed(0), row.ratio.toFixed(2), seen[row.name].map((ms) => ms.toFixed(0)).join(' ')]),
    );
  }
} finally {
  fs.rmSync(root, { recursive: true, force: true });
}
