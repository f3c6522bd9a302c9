import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { oneLine } from '../core/text.ts';
import type { ProcessResult, ProcessSpec } from '../process/index.ts';
import { found, type Found } from './found.ts';
import type { DiscoverParts, DiscoverRequest } from './port.ts';
import { taskLines } from './task-lines.ts';

/** Most bytes kept of each stream of the command. */
const outputBytes = 10_000_000;
/** Between asking the command to end and killing it. */
const graceMs = 5_000;

// Bash where there is one, because only `pipefail` makes `tracker list | jq ...` fail when the tracker does: a failed source must not look
// like an empty one.
const script = `if command -v bash >/dev/null 2>&1; then exec bash --noprofile --norc -o pipefail -c "$1"; fi
exec sh -c "$1"`;

const problemOf = async (result: ProcessResult, timeoutMs: number): Promise<string | undefined> => {
  if (result.end === 'deadline' || result.end === 'idle') return `it was ended after ${timeoutMs} ms, its time limit.`;
  if (result.end !== 'exited') return `it did not run to its end (${result.end}). ${result.problem}`.trim();
  if (result.exitCode === 0) return undefined;
  const said = oneLine((await readFile(result.stderr.path, 'utf8')).slice(-2_000), 300);
  const ended =
    result.exitCode === null ? `it was ended by ${result.signal ?? 'an unknown signal'}` : `it ended with exit code ${result.exitCode}`;
  return said === '' ? `${ended}.` : `${ended}: ${said}`;
};

/** Runs a `command:` source in a checkout of base and reads the tasks it prints, one JSON object a line. */
export const commandSource = async (
  parts: DiscoverParts,
  request: DiscoverRequest,
  entry: { readonly key: string; readonly source: string; readonly command: string; readonly timeoutMs: number },
): Promise<Found> =>
  parts.withCheckout(request.base, async (dir) => {
    const spec: ProcessSpec = {
      command: '/bin/sh',
      args: ['-c', script, 'sh', entry.command],
      cwd: path.join(dir, request.prefix),
      env: parts.env,
      stdin: { kind: 'none' },
      limits: { deadlineMs: entry.timeoutMs, idleMs: undefined, graceMs, outputBytes },
      marker: `discover-${randomBytes(8).toString('hex')}`,
      whenOwnerDies: 'end',
      askSignal: 'SIGTERM',
    };
    const result = await request.run(entry.key, spec);
    const lines = taskLines(await readFile(result.stdout.path, 'utf8'), entry.source);
    const problem = await problemOf(result, entry.timeoutMs);
    const cut = result.stdout.cut
      ? [`${entry.source}: it printed ${result.stdout.bytesSeen} bytes, of which ${result.stdout.bytesKept} were read.`]
      : [];
    const problems = [...(problem === undefined ? [] : [`${entry.source}: ${problem}`]), ...cut, ...lines.problems];
    return found({ tasks: lines.tasks, problems });
  });
