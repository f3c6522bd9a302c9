import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));

test('CLI-20 no source uses what the oldest supported Node cannot parse or lacks', () => {
  // Node 22 knows neither `using` declarations nor the stacks that go with them.
  const unknown = /^\s*(?:await )?using \w+ =|\bnew (?:Async)?DisposableStack\b/m;
  const offenders = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => unknown.test(readFileSync(path.join(src, file), 'utf8')));
  expect(offenders).toEqual([]);
});
