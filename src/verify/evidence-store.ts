import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../core/fault.ts';
import { evidenceHash, type EvidenceHash } from '../core/ids.ts';
import type { EvidenceStore } from './port.ts';
import { writeDurably } from './write-durably.ts';

/** SHA-256 of the bytes (of a text: its UTF-8 form), lower-case hexadecimal. */
export const hashOf = (bytes: Uint8Array | string): EvidenceHash => evidenceHash(createHash('sha256').update(bytes).digest('hex'));

const sizeOf = async (file: string): Promise<number | undefined> => {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/**
 * Evidence named by its own hash, so that nobody can change it unseen: `<dir>/<first two>/<sha256>`.
 * @param dir absolute; made when the first piece is put
 */
export const createEvidenceStore = (dir: string): EvidenceStore => {
  const pathOf = (hash: EvidenceHash): string => path.join(dir, hash.slice(0, 2), hash);
  return {
    path: pathOf,
    async put(bytes) {
      const whole = Buffer.from(bytes as Uint8Array);
      const hash = hashOf(whole);
      // Equal name and size: the same bytes are there. Another size is a damaged file, which this write repairs.
      if ((await sizeOf(pathOf(hash))) !== whole.length) await writeDurably(pathOf(hash), whole);
      return hash;
    },
    async get(hash) {
      const file = pathOf(hash);
      let bytes: Buffer;
      try {
        bytes = await readFile(file);
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        throw new Fault('EVIDENCE_MISSING', `Evidence ${hash} is not in the store.`, {
          hint: `Look whether ${dir} was cleaned or moved.`,
          data: { file },
          cause,
        });
      }
      const found = hashOf(bytes);
      if (found === hash) return bytes;
      throw new Fault('EVIDENCE_CORRUPT', `Evidence ${hash} does not hold what its name says: its ${bytes.length} bytes hash to ${found}`, {
        hint: 'The file was changed or damaged after it was written. Do not rely on it; run the task again.',
        data: { file, found },
      });
    },
  };
};
