import { StreamFollower } from './follow.ts';
import { readResult, readSpec } from './job-files.ts';
import { streamLayout } from './stream-layout.ts';
import type { StreamName } from './stream-layout.ts';

/** What a job has printed, for looking only: nothing is started, signalled or waited for. */
export interface OutputView {
  /** The bytes that came since the last call, from the first one on. Bytes of a flood that were rotated away are skipped. */
  read(): readonly Uint8Array[];
}

/** Opens the output of a job folder, of a live process or a finished one; empty where there is no job. */
export const viewOutput = (jobDir: string, name: StreamName): OutputView => {
  const spec = readSpec(jobDir);
  if (spec === undefined) return { read: () => [] };
  let fresh: Uint8Array[] = [];
  const listener = { bytes: (chunk: Uint8Array): void => void fresh.push(chunk) };
  const follower = new StreamFollower({ dir: jobDir, name, layout: streamLayout(spec.limits.outputBytes), listener });
  return {
    read: () => {
      while (follower.pump(readResult(jobDir)?.[name]));
      const read = fresh;
      fresh = [];
      return read;
    },
  };
};
