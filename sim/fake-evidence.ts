import { createHash } from 'node:crypto';
import { evidenceHash } from '../src/core/ids.ts';
import type { EvidenceStore } from '../src/verify/index.ts';
import type { Stage } from './stage.ts';
import type { World } from './world.ts';

export const fakeEvidence = (stage: Stage, world: World): EvidenceStore => ({
  put: (bytes) =>
    stage.effect('evidence', () => {
      const kept = Buffer.from(bytes);
      const hash = evidenceHash(createHash('sha256').update(kept).digest('hex'));
      world.evidence.set(hash, kept);
      return hash;
    }),
  get: (hash) =>
    stage.look(() => {
      const bytes = world.evidence.get(hash);
      if (bytes === undefined) throw new Error(`The evidence ${hash} is not there.`);
      return bytes;
    }),
  path: (hash) => `/evidence/${hash}`,
});
