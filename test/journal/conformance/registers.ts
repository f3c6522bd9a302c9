import { expect, test } from 'vitest';
import type { MakeLab } from './lab.ts';

export const registersConformance = (makeLab: MakeLab): void => {
  test('RULE-4 a register keeps a value with its revision, over a kill, and each change is a fact', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    expect(await first.put([{ register: 'lease', key: 'a', value: { holder: 'r1' } }])).toBe(true);
    expect(await first.put([{ register: 'lease', key: 'a', value: { holder: 'r2' } }])).toBe(true);
    await lab.crash(first);
    const second = await lab.open();
    expect(second.reader.registerEntry('lease', 'a')).toMatchObject({ key: 'a', value: { holder: 'r2' }, revision: 2 });
    expect(second.reader.registerEntry('lease', 'b')).toBeUndefined();
    const facts = second.reader.facts().filter(({ kind }) => kind === 'register.changed');
    expect(facts.map(({ data }) => data)).toMatchObject([
      { register: 'lease', key: 'a', revision: 1, value: { holder: 'r1' } },
      { register: 'lease', key: 'a', revision: 2, value: { holder: 'r2' } },
    ]);
  });

  test('RULE-4 changes are made all or not at all: one expectation that does not hold refuses them together', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    await engine.put([{ register: 'r', key: 'a', value: 1, expect: 0 }]);
    const refused = [
      await engine.put([
        { register: 'r', key: 'b', value: 1 },
        { register: 'r', key: 'a', value: 2, expect: 0 },
      ]),
      await engine.put([{ register: 'r', key: 'a', value: 2, expect: 7 }]),
      await engine.put([{ register: 'r', key: 'c', value: 2, expect: 1 }]),
    ];
    expect(refused).toEqual([false, false, false]);
    expect(engine.reader.register('r')).toMatchObject([{ key: 'a', value: 1, revision: 1 }]);
    expect(
      await engine.put([
        { register: 'r', key: 'a', value: 2, expect: 1 },
        { register: 'r', key: 'b', value: 1, expect: 0 },
      ]),
    ).toBe(true);
    expect(engine.reader.register('r')).toMatchObject([
      { key: 'a', value: 2, revision: 2 },
      { key: 'b', revision: 1 },
    ]);
  });

  test('RULE-4 of two who expect the same revision one wins', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const won = await Promise.all([1, 2, 3].map((value) => engine.put([{ register: 'r', key: 'a', value, expect: 0 }])));
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test('RULE-4 a register is read by key, by prefix, page by page, and newest first; a removed entry is gone', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    for (const key of ['b/2', 'a/1', 'b/1', 'b/3']) {
      await engine.put([{ register: 'r', key, value: key }]);
      await lab.time.pass(5);
    }
    await engine.put([{ register: 'r', key: 'b/3', value: undefined }]);
    const keys = (filter: Parameters<typeof engine.reader.register>[1]) => engine.reader.register('r', filter).map(({ key }) => key);
    expect(keys({})).toEqual(['a/1', 'b/1', 'b/2']);
    expect(keys({ prefix: 'b/' })).toEqual(['b/1', 'b/2']);
    expect(keys({ after: 'a/1', limit: 1 })).toEqual(['b/1']);
    expect(keys({ newestFirst: true, limit: 2 })).toEqual(['b/1', 'a/1']);
    expect(engine.reader.register('other')).toEqual([]);
  });
};
