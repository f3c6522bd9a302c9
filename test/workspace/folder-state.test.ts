import { expect, test } from 'vitest';
import { provingMarks, type EntryState } from '../../src/workspace/folder-state.ts';
import { notFresh } from '../../src/workspace/fresh-check.ts';

const lookedAtMs = 1_700_000_000_000;
const atNs = BigInt(lookedAtMs) * 1_000_000n;

const entry = (changedNs: bigint, over: Partial<EntryState> = {}): EntryState => ({
  kind: 'file',
  mark: `mark ${changedNs}`,
  mode: 0o100644,
  names: 1,
  changedNs,
  bytes: 1,
  ...over,
});

test('WSP-69 what changed in the clock tick before the look proves nothing, and whole seconds never do', () => {
  const state = new Map([
    ['rest', entry(atNs - 21_000_000n)],
    ['racy', entry(atNs - 19_000_001n)],
    ['later', entry(atNs + 5n)],
  ]);
  expect([...provingMarks(state, lookedAtMs).keys()]).toEqual(['rest']);
  const coarse = new Map([['old', entry(atNs - 3_000_000_000n)]]);
  expect(provingMarks(coarse, lookedAtMs).size).toBe(0);
});

const folder = entry(1n, { kind: 'folder', mode: 0o40755, names: 2 });
const entries = [
  { mode: '100644', object: 'x', path: 'a/b/c' },
  { mode: '100755', object: 'x', path: 'a/run' },
  { mode: '120000', object: 'x', path: 'link' },
];
const whole = new Map([
  ['a', folder],
  ['a/b', folder],
  ['a/b/c', entry(1n)],
  ['a/run', entry(1n, { mode: 0o100755 })],
  ['link', entry(1n, { kind: 'link', mode: 0o120777 })],
]);

test.each([
  ['nothing', {}, undefined],
  ['another kind', { 'a/run': entry(1n, { kind: 'link' }) }, /^a\/run is a link/],
  ['a second name', { 'a/b/c': entry(1n, { names: 2 }) }, /has 2 names/],
  ['other permissions', { 'a/b/c': entry(1n, { mode: 0o100600 }) }, /permissions 600/],
  ['set-user-id', { 'a/run': entry(1n, { mode: 0o104755 }) }, /permissions 4755/],
  ['an open folder', { a: entry(1n, { kind: 'folder', mode: 0o40777 }) }, /^a is not the folder/],
  ['one too many', { 'a/more': entry(1n) }, /^1 entries/],
] as const)('WSP-70 a folder is compared with a fresh checkout: %s', (_, over, problem) => {
  const changed: Readonly<Record<string, EntryState>> = over;
  const found = notFresh(new Map([...whole, ...Object.entries(changed)]), entries, 0o022);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});

test('WSP-70 a file that is missing is named', () => {
  const found = notFresh(new Map([...whole].filter(([file]) => file !== 'link')), entries, 0o022);
  expect(found).toBe('link is missing');
});
