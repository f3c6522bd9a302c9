import { describe, expect, test } from 'vitest';
import { settingsOf } from '../../src/config/index.ts';
import { issuesOf, load, loopText, minimal } from './helpers.ts';

describe('workspace', () => {
  test('CFG-80 share names folders below the folder of the loop, none inside another', () => {
    const share = (list: string): readonly string[] => issuesOf(() => load(loopText(`${minimal}\nworkspace: { share: ${list} }`)));
    for (const good of ['[]', '[node_modules]', '[node_modules, packages/a/node_modules, .venv, .github]']) expect(share(good)).toEqual([]);
    for (const bad of [
      'node_modules',
      '[.]',
      '[..]',
      '[../x]',
      '[/abs]',
      '[a/../b]',
      '[a//b]',
      '[a/]',
      '[""]',
      '[.git]',
      '[a/.git/b]',
      '[a, a/b]',
      '[a, a]',
    ])
      expect([bad, share(bad).join()]).toEqual([bad, expect.stringContaining('wanted a list of folders such as [node_modules]')]);
  });

  test('CFG-81 disk and warm are settings of gyre.yaml, with bounds and defaults, and no keys of a loop', () => {
    const of = (text: string) => settingsOf({ file: 'gyre.yaml', text }).workspace;
    expect(of('workspace: { setup: npm ci }')).toEqual({ diskBytes: 50 * 1024 ** 3, warm: 0 });
    expect(settingsOf(undefined).workspace).toEqual({ diskBytes: 50 * 1024 ** 3, warm: 0 });
    expect(of('workspace: { disk: 10gb, warm: 4 }')).toEqual({ diskBytes: 10 * 1024 ** 3, warm: 4 });
    expect(of('workspace: { disk: 100000gb }').diskBytes).toBe(100_000 * 1024 ** 3);
    expect(issuesOf(() => of('workspace: { disk: 1kb, warm: 5 }'))).toEqual([
      'gyre.yaml:1:20 workspace.disk: found "1kb", wanted a size from 64kb to 100000gb with its unit, such as 10mb',
      'gyre.yaml:1:31 workspace.warm: found 5, wanted a whole number from 0 to 4',
    ]);
    expect(issuesOf(() => load(loopText('workspace: { disk: 10gb }'))).join()).toContain('workspace.disk: found an unknown key');
  });
});
