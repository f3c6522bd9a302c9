// A file of a fixed size in the state home that stands for room on the disk. When the disk is full it goes, so that the last facts and
// the ends of runs fit; when there is room again it is made again.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';

export interface Reserve {
  /** Makes the file, unless it is there in full. @returns whether it is there now */
  fill(): boolean;
  /** The same once there is room for twice its size: what it freed itself a moment ago is no new room. */
  refill(): boolean;
  /** Takes the file away. @returns whether there was one */
  free(): boolean;
}

const chunkBytes = 64 * 1024;

/** Bytes that no file system keeps as a hole, and none that compresses makes much smaller. */
const writeBytes = (handle: number, bytes: number): void => {
  const chunk = Buffer.alloc(chunkBytes);
  let state = 0x9e3779b9;
  for (let at = 0; at < chunk.length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    chunk.writeUInt32LE(state, at);
  }
  for (let left = bytes; left > 0;) left -= writeSync(handle, chunk, 0, Math.min(left, chunk.length));
};

/** For a journal that lies on no disk. */
export const noReserve: Reserve = { fill: () => true, refill: () => true, free: () => false };

/** @param bytes 0 for none */
export const createReserve = (stateHome: string, bytes: number): Reserve => {
  const file = path.join(stateHome, 'reserve');
  const free = (): boolean => {
    const wasThere = existsSync(file);
    rmSync(file, { force: true });
    return wasThere;
  };
  const fill = (): boolean => {
    if (bytes === 0 || statSync(file, { throwIfNoEntry: false })?.size === bytes) return true;
    try {
      const handle = openSync(file, 'w', 0o600);
      try {
        writeBytes(handle, bytes);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
      return true;
    } catch {
      // A part of it would take the room that somebody else needs now.
      free();
      return false;
    }
  };
  const hasRoom = (): boolean => {
    const { bavail, bsize } = statfsSync(stateHome);
    return bavail * bsize >= 2 * bytes;
  };
  return { free, fill, refill: () => hasRoom() && fill() };
};
