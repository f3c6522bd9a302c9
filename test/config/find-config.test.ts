import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Rejection } from '../../src/core/fault.ts';
import { configFileBytes, findConfig, issueText, type ConfigSource } from '../../src/config/index.ts';
import { loopText, minimal } from './helpers.ts';

let base = '';
let root = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'gyre-config Ü-')));
  root = path.join(base, 'repo');
  await mkdir(root);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const put = async (file: string, content: string | Uint8Array): Promise<void> => {
  const absolute = path.join(root, file);
  await mkdir(path.dirname(absolute), { recursive: true });
  await writeFile(absolute, content);
};

const found = (from = '.'): ConfigSource => {
  const source = findConfig(path.join(root, from), root);
  if (source === undefined) throw new Error('nothing found');
  return source;
};

const issuesOf = async (act: Promise<unknown>): Promise<readonly string[]> => {
  try {
    await act;
  } catch (error) {
    if (error instanceof Rejection) return [error.message, ...error.issues.map(issueText)];
    throw error;
  }
  return [];
};

test('CFG-50 .gyre is found in the nearest folder upward and gyre.yaml in its own, and messages name files from the root', async () => {
  await put('gyre.yaml', 'stop: { attempts: 7 }');
  await put('packages/a b/.gyre/loops/fix.md', loopText(minimal));
  await put('packages/a b/.gyre/loops/Ünit.md', loopText('discover: 3'));
  await put('packages/a b/.gyre/loops/notes.txt', 'no loop');
  await mkdir(path.join(root, 'packages/a b/src/deep'), { recursive: true });
  const source = found('packages/a b/src/deep');
  expect(source.home).toBe(path.join(root, 'packages/a b'));
  expect(await source.names()).toEqual(['fix', 'Ünit']);
  const { definition } = await source.load('fix');
  expect([definition.name, definition.file, definition.stop.attempts]).toEqual(['fix', 'packages/a b/.gyre/loops/fix.md', 7]);
  expect(await issuesOf(source.load('Ünit'))).toEqual([
    'packages/a b/.gyre/loops/Ünit.md has an issue.',
    'packages/a b/.gyre/loops/Ünit.md:2:11 discover: found 3, wanted a list of sources, such as - tests: npm test',
  ]);
  expect(await source.shared()).toEqual({ file: 'gyre.yaml', text: 'stop: { attempts: 7 }' });
});

test('CFG-51 nothing above the repository root is looked at', async () => {
  await mkdir(path.join(base, '.gyre', 'loops'), { recursive: true });
  await writeFile(path.join(base, 'gyre.yaml'), 'stop: {}');
  expect(findConfig(root, root)).toBeUndefined();
  await mkdir(path.join(base, 'elsewhere', '.gyre'), { recursive: true });
  expect(findConfig(path.join(base, 'elsewhere'), root)?.home).toBe(path.join(base, 'elsewhere'));
  await mkdir(path.join(base, 'elsewhere', 'below'));
  expect(findConfig(path.join(base, 'elsewhere', 'below'), root)).toBeUndefined();
});

test('CFG-52 with gyre.yaml alone there is a home and no loop', async () => {
  await put('gyre.yaml', '');
  await put('src/a.txt', '');
  const source = found('src');
  expect([source.home, await source.names()]).toEqual([root, []]);
  expect(await issuesOf(source.load('fix'))).toEqual([
    'There is no loop named "fix".',
    '.gyre/loops: found no fix.md, wanted a file in .gyre/loops',
  ]);
});

test('CFG-53 an unknown loop names the known ones and the nearest; a name never leads out of the folder', async () => {
  await put('.gyre/loops/fix-tests.md', loopText(minimal));
  await put('.gyre/loops/docs.md', loopText(minimal));
  await put('.gyre/secret.md', loopText(minimal));
  const source = found();
  expect(await issuesOf(source.load('fix-test'))).toEqual([
    'There is no loop named "fix-test".',
    '.gyre/loops: found no fix-test.md, wanted one of docs, fix-tests (did you mean fix-tests?)',
  ]);
  expect(await issuesOf(source.load('../secret'))).toHaveLength(2);
});

test('CFG-54 a file that is too large, not UTF-8, a folder, or a dead link is refused by name', async () => {
  await put('.gyre/loops/large.md', 'x'.repeat(configFileBytes + 1));
  await put('.gyre/loops/latin.md', Buffer.from('---\ngoal: M\u00FCll\n---\nx', 'latin1'));
  await put('.gyre/loops/wide.md', Buffer.from('\uFEFF---\n', 'utf16le'));
  await mkdir(path.join(root, '.gyre/loops/folder.md'));
  await symlink('nowhere', path.join(root, '.gyre/loops/dead.md'));
  await symlink('loop.md', path.join(root, '.gyre/loops/loop.md'));
  const source = found();
  const wordsOf = async (name: string): Promise<string | undefined> => (await issuesOf(source.load(name)))[1];
  expect(await wordsOf('large')).toBe('.gyre/loops/large.md: found 262145 bytes, wanted at most 262144 bytes');
  expect(await wordsOf('latin')).toBe('.gyre/loops/latin.md: found bytes that are not UTF-8, wanted a text in UTF-8');
  expect(await wordsOf('wide')).toBe('.gyre/loops/wide.md: found bytes that are not UTF-8, wanted a text in UTF-8');
  expect(await wordsOf('folder')).toBe('.gyre/loops/folder.md: found a folder, wanted a file');
  expect(await wordsOf('dead')).toBe('.gyre/loops/dead.md: found no such file, wanted a readable file');
  expect(await wordsOf('loop')).toBe('.gyre/loops/loop.md: found a link that leads to itself, wanted a readable file');
});

test('CFG-55 a loop file and a gyre.yaml that both cannot be read are refused together', async () => {
  await put('.gyre/loops/fix.md', 'x'.repeat(configFileBytes + 1));
  await mkdir(path.join(root, 'gyre.yaml'));
  expect(await issuesOf(found().load('fix'))).toEqual([
    '.gyre/loops/fix.md cannot be read. gyre.yaml cannot be read.',
    '.gyre/loops/fix.md: found 262145 bytes, wanted at most 262144 bytes',
    'gyre.yaml: found a folder, wanted a file',
  ]);
});

// Root may read everything, so there is nothing to refuse.
test.skipIf(process.getuid?.() === 0)('CFG-56 a file without permission is refused by name', async () => {
  await put('.gyre/loops/fix.md', loopText(minimal));
  await chmod(path.join(root, '.gyre/loops/fix.md'), 0);
  expect((await issuesOf(found().load('fix')))[1]).toBe('.gyre/loops/fix.md: found a file you may not read, wanted a readable file');
});

test('L6 looking and loading write nothing', async () => {
  await put('.gyre/loops/fix.md', loopText(minimal));
  await found().load('fix');
  expect(await readFile(path.join(root, '.gyre/loops/fix.md'), 'utf8')).toBe(loopText(minimal));
});
