import { expect, test } from 'vitest';
import { epochMs } from '../../src/core/ids.ts';
import { openReader } from '../../src/journal/index.ts';
import { makeLab } from './lab.ts';

const at = (register: string, key: string, value: unknown, expected?: number) => ({
  register,
  key,
  value,
  ...(expected === undefined ? {} : { expect: expected }),
});

test('L5 a put is a register entry and a fact, and a reader in another process sees both', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  expect(await engine.put([at('pool', 'ä', { free: 2 }), at('pool', 'b', null)])).toBe(true);
  using reader = openReader(lab.stateHome);
  expect(reader?.registerEntry('pool', 'ä')).toEqual({
    key: 'ä',
    value: { free: 2 },
    revision: 1,
    changedAt: expect.any(Number) as number,
  });
  expect(reader?.registerEntry('pool', 'b')?.value).toBeNull();
  expect(reader?.registerEntry('other', 'ä')).toBeUndefined();
  const facts = reader?.facts().filter((fact) => fact.kind === 'register.changed');
  expect(facts?.map((fact) => fact.data)).toEqual([
    { register: 'pool', key: 'ä', revision: 1, value: { free: 2 } },
    { register: 'pool', key: 'b', revision: 1, value: null },
  ]);
  expect(reader?.verify()).toMatchObject({ ok: true });
});

test('L5 a put whose expectation does not hold writes nothing of it', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  await engine.put([at('r', 'a', 1)]);
  const before = engine.reader.facts().length;
  expect(await engine.put([at('r', 'b', 2, 0), at('r', 'a', 2, 7)])).toBe(false);
  expect(await engine.put([at('r', 'a', 2, 0)])).toBe(false);
  expect(await engine.put([at('r', 'gone', undefined, 1)])).toBe(false);
  expect(engine.reader.register('r').map((entry) => entry.key)).toEqual(['a']);
  expect(engine.reader.facts()).toHaveLength(before);
  expect(await engine.put([at('r', 'a', 2, 1), at('r', 'b', 1, 0)])).toBe(true);
  expect(engine.reader.register('r').map(({ key, value, revision }) => [key, value, revision])).toEqual([
    ['a', 2, 2],
    ['b', 1, 1],
  ]);
});

test('L5 of two puts that expect the same revision at the same time one wins', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const tries = Array.from({ length: 20 }, (_, index) => engine.put([at('r', 'lease', { owner: index }, 0)]));
  const won = (await Promise.all(tries)).flatMap((ok, index) => (ok ? [index] : []));
  expect(won).toHaveLength(1);
  expect(engine.reader.registerEntry('r', 'lease')?.value).toEqual({ owner: won[0] });
});

test('L5 a removed key is not there, and comes back with the next revision', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  await engine.put([at('r', 'a', 1)]);
  await engine.put([at('r', 'a', undefined, 1)]);
  expect(engine.reader.registerEntry('r', 'a')).toBeUndefined();
  expect(engine.reader.register('r')).toEqual([]);
  const facts = engine.reader.facts().length;
  expect(await engine.put([at('r', 'a', undefined), at('r', 'never', undefined)])).toBe(true);
  expect(engine.reader.facts()).toHaveLength(facts);
  expect(await engine.put([at('r', 'a', 'new', 1)])).toBe(false);
  expect(await engine.put([at('r', 'a', 'new', 0)])).toBe(true);
  expect(engine.reader.registerEntry('r', 'a')).toMatchObject({ value: 'new', revision: 3 });
});

test('L14 a register is listed by key, by prefix, from a key on, and newest first', async () => {
  await using lab = makeLab();
  let now = 1_000;
  const engine = await lab.open({ clock: () => epochMs((now += 10)) });
  for (const key of ['b/1', 'a', 'b/2', 'b', '\u{10FFFF}x', 'c', 'b/\u{10FFFF}', 'ä']) await engine.put([at('r', key, key)]);
  await engine.put([at('other', 'b/3', 1)]);
  await engine.put([at('r', 'b/1', 'again')]);
  const keys = (filter: Parameters<typeof engine.reader.register>[1]) => engine.reader.register('r', filter).map((entry) => entry.key);
  expect(keys({})).toEqual(['a', 'b', 'b/1', 'b/2', 'b/\u{10FFFF}', 'c', 'ä', '\u{10FFFF}x']);
  expect(keys({ prefix: 'b/' })).toEqual(['b/1', 'b/2', 'b/\u{10FFFF}']);
  expect(keys({ prefix: 'b/\u{10FFFF}' })).toEqual(['b/\u{10FFFF}']);
  expect(keys({ prefix: '\u{10FFFF}' })).toEqual(['\u{10FFFF}x']);
  expect(keys({ prefix: 'b', after: 'b/1', limit: 1 })).toEqual(['b/2']);
  expect(keys({ newestFirst: true, limit: 3 })).toEqual(['b/1', 'ä', 'b/\u{10FFFF}']);
  expect(keys({ newestFirst: true, after: 'ä', limit: 2 })).toEqual(['b/\u{10FFFF}', 'c']);
  expect(keys({ newestFirst: true, prefix: 'b', after: 'b/1' })).toEqual(['b/\u{10FFFF}', 'b', 'b/2']);
  expect(keys({ limit: 0 })).toEqual([]);
});

test('L5 what is no entry is refused before anything is written', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  await expect(engine.put([at('r', 'a', 1), at('r', 'a', 2)])).rejects.toThrow('comes twice in one put');
  await expect(engine.put([at('', 'a', 1)])).rejects.toThrow('The register');
  await expect(engine.put([at('r', '\n', 1)])).rejects.toThrow('The key of a register');
  await expect(engine.put([at('r', 'big', 'x'.repeat(300_000))])).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  await expect(engine.put(Array.from({ length: 1_001 }, (_, index) => at('r', `k${index}`, 1)))).rejects.toThrow('larger than 1000');
  expect(engine.reader.register('r')).toEqual([]);
  await expect(engine.record('register.changed', {})).rejects.toThrow("the engine's own");
});

test('P1 registers survive the death of their engine', async () => {
  await using lab = makeLab();
  const first = await lab.open();
  await first.put([at('r', 'a', 1)]);
  await first[Symbol.asyncDispose]();
  const second = await lab.open();
  expect(second.reader.registerEntry('r', 'a')).toMatchObject({ value: 1, revision: 1 });
});
