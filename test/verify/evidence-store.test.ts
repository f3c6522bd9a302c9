import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { evidenceHash } from '../../src/core/ids.ts';
import { canonicalJson } from '../../src/verify/canonical-json.ts';
import { createEvidenceStore } from '../../src/verify/index.ts';
import { tempFolder } from './support.ts';

let dir = '';
beforeEach(async () => {
  dir = await tempFolder('evidence store ü');
});
afterEach(async () => rm(dir, { recursive: true, force: true }));

test('VRD-30 evidence is named by its SHA-256 and comes back byte for byte', async () => {
  const store = createEvidenceStore(path.join(dir, 'evidence'));
  const bytes = new Uint8Array([0, 255, 10, 13]);
  const hash = await store.put(bytes);
  expect(store.path(hash)).toBe(path.join(dir, 'evidence', hash.slice(0, 2), hash));
  expect(new Uint8Array(await store.get(hash))).toEqual(bytes);
  expect(await store.put('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test('VRD-31 the same bytes are stored once, also when put at the same time', async () => {
  const store = createEvidenceStore(dir);
  const hashes = await Promise.all(Array.from({ length: 20 }, async () => store.put('same')));
  expect(new Set(hashes).size).toBe(1);
  const file = store.path(await store.put('same'));
  const before = await stat(file);
  await store.put('same');
  expect((await stat(file)).ino).toBe(before.ino);
  expect(await readdir(path.dirname(file))).toHaveLength(1);
});

test('VRD-32 damaged and missing evidence is refused with its code, and a damaged length is repaired by the next put', async () => {
  const store = createEvidenceStore(dir);
  const hash = await store.put('truth');
  await writeFile(store.path(hash), 'lies!');
  await expect(store.get(hash)).rejects.toMatchObject({ code: 'EVIDENCE_CORRUPT' });
  await writeFile(store.path(hash), 'tru');
  await store.put('truth');
  expect((await store.get(hash)).toString()).toBe('truth');
  await expect(store.get(evidenceHash('a'.repeat(64)))).rejects.toMatchObject({ code: 'EVIDENCE_MISSING' });
});

test('VRD-33 a write that cannot be finished leaves no part behind', async () => {
  const store = createEvidenceStore(dir);
  const hash = await store.put('x');
  const file = store.path(hash);
  await rm(file);
  await mkdir(path.join(file, 'in the way'), { recursive: true });
  await expect(store.put('x')).rejects.toThrow();
  expect(await readdir(path.dirname(file))).toEqual([hash]);
});

test('VRD-34 canonical JSON is the same for equal values, whatever the order of keys', () => {
  expect(canonicalJson({ b: [{ d: 1, c: undefined, a: null }], a: 'ü' })).toBe('{"a":"ü","b":[{"a":null,"d":1}]}');
  expect(canonicalJson({ x: 1, y: 2 })).toBe(canonicalJson({ y: 2, x: 1 }));
});
