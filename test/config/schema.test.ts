import { readFileSync } from 'node:fs';
import path from 'node:path';
import picomatch from 'picomatch';
import { expect, test } from 'vitest';
import { defaultProtect, gyreJsonSchema, loopJsonSchema } from '../../src/config/index.ts';

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

test.each([
  ['schema/loop.schema.json', loopJsonSchema],
  ['schema/gyre.schema.json', gyreJsonSchema],
] as const)('CFG-60 %s is what the code accepts; `node scripts/write-schema.ts` writes it', (file, schema) => {
  expect(JSON.parse(read(file))).toEqual(schema());
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

/** Every key of a schema with its dotted path; an entry of a list is `[]`, a free name is `*`. */
const keysOf = (schema: Schema, prefix: string): readonly { readonly key: string; readonly schema: Schema }[] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    return [{ key, schema: inner }, ...keysOf(inner, key)];
  }),
  ...(schema.items === undefined ? [] : keysOf(schema.items, `${prefix}[]`)),
  ...(schema.anyOf ?? []).flatMap((branch) => keysOf(branch, prefix)),
  ...(typeof schema.additionalProperties === 'object' ? keysOf(schema.additionalProperties, `${prefix}.*`) : []),
];

// A trigger stands alone or in a list: the same keys twice, and one row.
const loopKeys = keysOf(loopJsonSchema(), '').filter(({ key }) => !key.startsWith('on[].'));
const gyreKeys = keysOf(gyreJsonSchema() as Schema, '').filter(
  ({ key }) => !loopKeys.some((known) => known.key === key) && !key.startsWith('agents.*.'),
);

test('CFG-61 every key has a description for editors', () => {
  expect(loopKeys.length).toBeGreaterThan(50);
  expect([...loopKeys, ...gyreKeys].filter(({ schema }) => (schema.description ?? '') === '').map(({ key }) => key)).toEqual([]);
});

test('CFG-62 every key stands in the reference, in a row of its own', () => {
  // What a command source prints has a table of its own, and is no key of a file.
  const page = read('docs/reference/loop-file.md').replace(/^##+ Lines of a command source$[^]*?(?=^## )/m, '');
  const rows = new Set([...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, key]) => key));
  expect([...loopKeys, ...gyreKeys].map(({ key }) => key).filter((key) => !rows.has(key))).toEqual([]);
  expect([...rows].filter((row) => ![...loopKeys, ...gyreKeys].some(({ key }) => key === row))).toEqual([]);
});

test('CFG-63 the default of protect stands in the reference, glob by glob', () => {
  const page = read('docs/reference/loop-file.md');
  expect(defaultProtect.filter((glob) => !page.includes(`\`${glob}\``))).toEqual([]);
});

const isProtected = picomatch([...defaultProtect], { dot: true });

test.each([
  'src/add.test.ts',
  'packages/a/src/add.spec.tsx',
  'test/helpers.js',
  'packages/a/tests/x.py',
  'src/__tests__/a.js',
  'src/__snapshots__/a.snap',
  'app/test_views.py',
  'app/views_test.py',
  'conftest.py',
  'pkg/add_test.go',
  'pkg/testdata/in.txt',
  'spec/models/user_spec.rb',
  'src/test/java/a/AddTest.java',
  'lib/AddTest.java',
  'tests/it.rs',
  'vitest.config.ts',
  'packages/a/jest.config.cjs',
  'playwright.config.ts',
  'pytest.ini',
  'tox.ini',
  '.github/workflows/ci.yml',
  '.gitlab-ci.yml',
  'Jenkinsfile',
  'package-lock.json',
  'packages/a/yarn.lock',
  'pnpm-lock.yaml',
  'Cargo.lock',
  'go.sum',
  'uv.lock',
  'poetry.lock',
  'Gemfile.lock',
  '.gyre/loops/fix.md',
  'packages/a/.gyre/loops/fix.md',
  'gyre.yaml',
])('CFG-64 %s is protected by default', (file) => {
  expect(isProtected(file)).toBe(true);
});

test.each([
  'src/add.ts',
  'package.json',
  'README.md',
  'src/latest.ts',
  'src/contest/a.py',
  'pyproject.toml',
  'go.mod',
  'src/testing.ts',
  'docs/specification.md',
])('CFG-64 %s is not protected by default', (file) => {
  expect(isProtected(file)).toBe(false);
});
