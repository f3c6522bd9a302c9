import { lstatSync, realpathSync, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Defect, type Issue, Rejection } from '../core/fault.ts';
import { configFileBytes } from './limits.ts';
import { loadLoopText } from './load-loop-text.ts';
import { nearest } from '../core/nearest.ts';
import type { ConfigSource, SourceText } from './port.ts';

const isFolder = (dir: string): boolean => statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;

/** The folders from `from` up to and including `to`; only `from` when it is not inside `to`. */
const upward = (from: string, to: string): readonly string[] => {
  const relative = path.relative(to, from);
  if (relative === '') return [from];
  if (relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)) return [from];
  const steps = relative.split(path.sep);
  return [...steps.map((_, index) => path.join(to, ...steps.slice(0, steps.length - index))), to];
};

const whyUnreadable = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'no such file',
    EACCES: 'a file you may not read',
    EISDIR: 'a folder',
    ELOOP: 'a link that leads to itself',
  };
  return words[code] ?? `a file that cannot be read (${code})`;
};

/** Reads one configuration file: a plain file, UTF-8, bounded. */
const readSource = async (absolute: string, file: string): Promise<SourceText> => {
  const refuse = (found: string, wanted: string): Rejection => {
    const issue: Issue = { origin: { file }, key: '', found, wanted };
    return new Rejection(`${file} cannot be read.`, { issues: [issue] });
  };
  let bytes: Buffer;
  try {
    const facts = await stat(absolute);
    // A pipe or a device would be waited on for ever.
    if (!facts.isFile()) throw refuse(facts.isDirectory() ? 'a folder' : 'something that is not a file', 'a file');
    if (facts.size > configFileBytes) throw refuse(`${facts.size} bytes`, `at most ${configFileBytes} bytes`);
    bytes = await readFile(absolute);
  } catch (error) {
    throw error instanceof Rejection ? error : refuse(whyUnreadable(error), 'a readable file');
  }
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    throw refuse('bytes that are not UTF-8', 'a text in UTF-8');
  }
};

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Looks for a `.gyre` folder and for `gyre.yaml`, each in the nearest folder upward from `cwd` to the repository root.
 * @param cwd absolute folder
 * @param stopAt absolute folder, the repository root; nothing above it is looked at
 * @returns `undefined` when there is neither
 */
export const findConfig = (cwd: string, stopAt: string): ConfigSource | undefined => {
  const root = realpathSync(stopAt);
  const folders = upward(realpathSync(cwd), root);
  const gyreHome = folders.find((dir) => isFolder(path.join(dir, '.gyre')));
  // Anything of that name counts, so that a folder or a dead link is reported and not passed over.
  const sharedHome = folders.find((dir) => lstatSync(path.join(dir, 'gyre.yaml'), { throwIfNoEntry: false }) !== undefined);
  const home = gyreHome ?? sharedHome;
  if (home === undefined) return undefined;

  const loopsDir = path.join(home, '.gyre', 'loops');
  const named = (absolute: string): string => path.relative(root, absolute).split(path.sep).join('/');

  const names = async (): Promise<readonly string[]> => {
    if (!isFolder(loopsDir)) return [];
    const files = await readdir(loopsDir);
    return files
      .filter((file) => file.endsWith('.md') && !file.startsWith('.'))
      .map((file) => file.slice(0, -'.md'.length))
      .sort(byName);
  };

  const shared = async (): Promise<SourceText | undefined> => {
    if (sharedHome === undefined) return undefined;
    const absolute = path.join(sharedHome, 'gyre.yaml');
    return readSource(absolute, named(absolute));
  };

  return {
    home,
    names,
    shared,
    load: async (name) => {
      const known = await names();
      // Only names that were listed are opened, so a name can never lead out of the folder.
      if (!known.includes(name)) {
        const near = nearest(name, known);
        const wanted = known.length === 0 ? `a file in ${named(loopsDir)}` : `one of ${known.join(', ')}`;
        throw new Rejection(`There is no loop named ${JSON.stringify(name.slice(0, 100))}.`, {
          issues: [
            {
              origin: { file: named(loopsDir) },
              key: '',
              found: `no ${name.slice(0, 100)}.md`,
              wanted,
              ...(near === undefined ? {} : { nearest: near }),
            },
          ],
          hint: known.length === 0 ? 'gyre init writes a first loop.' : `Known loops: ${known.join(', ')}.`,
        });
      }
      const absolute = path.join(loopsDir, `${name}.md`);
      const reads = await Promise.allSettled([readSource(absolute, named(absolute)), shared()]);
      const refused = reads.flatMap((read) => (read.status === 'rejected' ? [read.reason as unknown] : []));
      const [first] = refused;
      if (first !== undefined)
        throw refused.every((reason) => reason instanceof Rejection)
          ? new Rejection(refused.map((reason) => reason.message).join(' '), { issues: refused.flatMap((reason) => reason.issues) })
          : first;
      const [loop, common] = reads;
      if (loop.status !== 'fulfilled' || common.status !== 'fulfilled')
        throw new Defect('A file without parts, or without text, was not refused.');
      return loadLoopText({ name, ...loop.value, shared: common.value });
    },
  };
};
