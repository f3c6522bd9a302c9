import { watch, type FSWatcher } from 'node:fs';
import path from 'node:path';
import picomatch from 'picomatch';
import { Fault } from '../core/fault.ts';
import type { GitRefs } from '../core/trigger.ts';
import type { Git } from '../workspace/index.ts';
import { debounceMs, gitMs, gitOutputBytes, refsCount } from './limits.ts';
import { noHints, type Source, type SourceEvent } from './source.ts';

const bounds = { limitMs: gitMs, outputBytes: gitOutputBytes };
const folders = { branch: 'refs/heads/', tag: 'refs/tags/', remote: 'refs/heads/' } as const;

/** `<sha> <ref>` lines, space or tab between, of the refs that match. */
const matching = (lines: string, refs: GitRefs): Readonly<Record<string, string>> => {
  const folder = folders[refs.kind];
  const isWanted = picomatch(refs.pattern, { dot: true });
  const found: Record<string, string> = {};
  for (const line of lines.split('\n')) {
    const [sha, ref] = line.split(/\s/, 2);
    if (sha === undefined || ref === undefined || !ref.startsWith(folder)) continue;
    const name = ref.slice(folder.length);
    // `ls-remote` lists the commit behind an annotated tag a second time.
    if (!name.endsWith('^{}') && isWanted(name)) found[ref] = sha;
  }
  return found;
};

/** What moved between two looks: new refs and refs at another commit. A ref that is gone is no event. */
export const movedRefs = (seen: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): readonly SourceEvent[] =>
  Object.entries(now)
    .filter(([ref, sha]) => seen[ref] !== sha)
    .map(([ref, sha]) => ({ part: `${ref.slice(0, 150)}@${sha}`, cause: { ref, to: sha, from: seen[ref] ?? '' } }));

/** Refs of a repository or of one of its remotes; asks git, writes nothing, fetches nothing. */
export const gitSource = ({ git, refs, pollMs }: { readonly git: Git; readonly refs: GitRefs; readonly pollMs: number }): Source => ({
  parts: 'repeatable',
  pollMs,
  look: async (seen) => {
    const args =
      refs.kind === 'remote'
        ? ['ls-remote', '--heads', '--', refs.remote]
        : ['for-each-ref', '--format=%(objectname) %(refname)', folders[refs.kind].slice(0, -1)];
    const now = matching(await git.line(args, bounds), refs);
    const count = Object.keys(now).length;
    if (count > refsCount)
      throw new Fault('TOO_MANY_REFS', `${refs.pattern} matches ${count} refs, and a trigger keeps at most ${refsCount}.`, {
        hint: 'Narrow the pattern in the loop file.',
      });
    return { events: seen === undefined ? [] : movedRefs(seen, now), seen: now };
  },
  hint: (poke) => {
    if (refs.kind === 'remote') return noHints;
    const watchers: FSWatcher[] = [];
    let timer: NodeJS.Timeout | undefined;
    let isClosed = false;
    const close = (): void => {
      isClosed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    };
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(poke, debounceMs);
    };
    const open = async (): Promise<void> => {
      const common = path.resolve(git.dir, await git.line(['rev-parse', '--git-common-dir'], bounds));
      for (const folder of [common, path.join(common, folders[refs.kind])]) {
        if (isClosed) return;
        const watcher = watch(folder, soon);
        watcher.on('error', () => watcher.close());
        watchers.push(watcher);
      }
    };
    // A hint that cannot be had is no trouble: the poll sees everything.
    open().catch(() => {});
    return { [Symbol.dispose]: close };
  },
});
