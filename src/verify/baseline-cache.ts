import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Baseline, CheckObservation } from '../core/verdict.ts';
import { canonicalJson } from './canonical-json.ts';
import { checkEnvironment } from './check-environment.ts';
import { hashOf } from './evidence-store.ts';
import type { CheckRunner } from './port.ts';
import { writeDurably } from './write-durably.ts';

/** Raised whenever the meaning of a kept observation changes, so that older files are made anew. */
const format = 'gyre.baseline/1';

const testSchema = z.object({
  id: z.string(),
  name: z.string(),
  file: z.string().optional(),
  outcome: z.enum(['passed', 'failed', 'skipped']),
  message: z.string(),
});
const formats = z.enum(['tap', 'node-spec', 'jest-json', 'junit', 'pytest', 'go-json', 'cargo']);
const runSchema = z.object({
  command: z.string(),
  cwd: z.string(),
  end: z.literal('ran'),
  exitCode: z.number().int(),
  signal: z.null(),
  durationMs: z.number(),
  report: z.discriminatedUnion('read', [
    z.object({ read: z.literal('yes'), format: formats, tests: z.array(testSchema) }),
    z.object({ read: z.literal('no-format') }),
  ]),
  output: z.string(),
  outputHash: z.string().regex(/^[0-9a-f]{64}$/),
  problem: z.string(),
});
const fileSchema = z.object({ format: z.literal(format), key: z.string(), commit: z.string(), runs: z.array(runSchema) });

type BaselineRequest = Parameters<CheckRunner['baseline']>[0];

export interface BaselineParts {
  readonly observe: CheckRunner['observe'];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateHome: string;
}

/** Everything that may change what the check says on one commit. */
const cacheKeyOf = ({ check, commit, prefix, setup, setupTimeoutMs }: BaselineRequest, env: BaselineParts['env']): string =>
  hashOf(
    canonicalJson({
      format,
      commit,
      command: check.command,
      env: checkEnvironment(env, check.env),
      prefix,
      setup: setup ?? null,
      setupTimeoutMs: setup === undefined ? null : setupTimeoutMs,
      report: { format: check.report.format ?? null, file: check.report.file ?? null },
      timeoutMs: check.timeoutMs,
    }),
  );

/** What was kept, or nothing: a file that is missing, damaged or of another key is made anew. */
const load = async (file: string, key: string): Promise<readonly CheckObservation[]> => {
  try {
    const read = fileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    return read.key === key ? (read.runs as readonly unknown[] as readonly CheckObservation[]) : [];
  } catch {
    return [];
  }
};

/** A kept run must be one that can be judged; a time-out of a busy minute must not stick to a commit for ever. */
const isKept = (run: CheckObservation): boolean => run.end === 'ran' && run.report.read !== 'broken';

/**
 * Makes `baseline`: runs a check on base as often as wanted and keeps the runs in `<stateHome>/baselines/<key>.json`. Grows when more runs
 * are wanted than are kept; returns all it has. Two callers of one key wait for each other instead of paying twice.
 */
export const createBaselines = ({ observe, env, stateHome }: BaselineParts): CheckRunner['baseline'] => {
  const waiting = new Map<string, Promise<unknown>>();

  const make = async (request: BaselineRequest, key: string): Promise<Baseline> => {
    const { commit, times } = request;
    const file = path.join(stateHome, 'baselines', `${key}.json`);
    const runs = [...(await load(file, key))];
    const kept = [...runs];
    while (runs.length < times) {
      const run = await observe({ ...request, key: `${request.key}/${runs.length + 1}`, pin: undefined, ofUser: true });
      runs.push(run);
      if (!isKept(run)) continue;
      kept.push(run);
      await writeDurably(file, canonicalJson({ format, key, commit, runs: kept }));
    }
    return { commit, runs };
  };

  return async (request) => {
    const key = cacheKeyOf(request, env);
    const before = waiting.get(key);
    // The other caller's failure is its own; this one looks at what was kept and goes on.
    const mine = (before ?? Promise.resolve()).then(
      () => make(request, key),
      () => make(request, key),
    );
    waiting.set(key, mine);
    try {
      return await mine;
    } finally {
      if (waiting.get(key) === mine) waiting.delete(key);
    }
  };
};
