import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ConfigSource, LoadedLoop } from '../config/index.ts';
import { Rejection } from '../core/fault.ts';
import { issueText } from '../core/issue-text.ts';
import type { Engine } from '../journal/index.ts';
import { noticeRegister } from '../loop/index.ts';
import type { RotatingLog } from '../server/index.ts';
import { loadLoops } from './load-loops.ts';

const pollMs = 2_000;
const noticeKey = 'configuration';

/** Names, sizes and times of everything a loop is read from; equal texts mean nothing was written. */
const signatureOf = async (source: ConfigSource): Promise<string> => {
  const folder = path.join(source.home, '.gyre', 'loops');
  const files = [path.join(source.home, 'gyre.yaml'), ...(await readdir(folder).catch(() => [])).map((name) => path.join(folder, name))];
  const facts = await Promise.all(files.map((file) => stat(file, { bigint: true }).catch(() => undefined)));
  return files.map((file, at) => `${file} ${facts[at]?.size ?? ''} ${facts[at]?.mtimeNs ?? ''} ${facts[at]?.ino ?? ''}`).join('\n');
};

/**
 * Uses loop files that were changed, added or removed while the daemon is up. A file that cannot be read changes nothing: the last good
 * reading stays, and a notice says so until it is mended.
 * @returns stop
 */
export const watchConfig = (watch: {
  readonly source: ConfigSource;
  readonly engine: Engine;
  readonly log: RotatingLog;
  readonly use: (loops: readonly LoadedLoop[]) => Promise<void>;
}): (() => void) => {
  const { source, engine, log, use } = watch;
  let known: string | undefined;
  let isLooking = false;

  const refused = async (error: Rejection): Promise<void> => {
    const sentence = `The loops as they are now cannot be used, the last good ones stay: ${[error.message, ...error.issues.map(issueText)].join(' ')}`;
    log.write(sentence);
    await engine.put([{ register: noticeRegister, key: noticeKey, value: { kind: 'configuration', at: Date.now(), sentence } }]);
  };

  const look = async (): Promise<void> => {
    const signature = await signatureOf(source);
    if (signature === known) return;
    const isFirst = known === undefined;
    known = signature;
    try {
      const loops = await loadLoops(source);
      if (!isFirst) {
        await use(loops);
        log.write(`Loops were read again: ${loops.map((loop) => loop.definition.name).join(', ') || 'none'}.`);
      }
      if (engine.reader.registerEntry(noticeRegister, noticeKey) !== undefined)
        await engine.put([{ register: noticeRegister, key: noticeKey, value: undefined }]);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      await refused(error);
    }
  };

  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => log.write(`The loops could not be looked at: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => {
        isLooking = false;
      });
  }, pollMs);
  return () => clearInterval(timer);
};
