import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeScene } from '../testkit/scene.ts';

test('SRV-20 service install writes a unit for this repository, tells how to start it, and remove takes it away', async () => {
  await using scene = await makeScene();
  await scene.loop({ agent: scene.agent([]) });
  const printed = await scene.gyre('service', 'install', '--print');
  expect(printed.code, printed.all).toBe(0);
  expect(printed.stdout).toContain('"up" "--foreground"');
  expect(printed.stdout).toContain(`WorkingDirectory=${scene.repo}\n`);
  const { file, start } = await scene.json<{ readonly file: string; readonly start: readonly string[] }>('service', 'install');
  expect(file.startsWith(scene.root)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe(printed.stdout);
  expect(start.join('\n')).toContain('systemctl --user enable --now gyre-');
  expect((await scene.gyre('service', 'remove')).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});
