// A scene with a forge: the stub FT beside it, and the environment that leads there.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startFt, ftToken, type Ft } from '../testkit/ft.ts';
import { makeScene, type Scene, type SceneOptions } from '../testkit/scene.ts';

export interface ForgeScene extends AsyncDisposable {
  readonly scene: Scene;
  readonly ft: Ft;
}

export const makeForgeScene = async (options: SceneOptions = {}): Promise<ForgeScene> => {
  const scene = await makeScene(options);
  const ft = await startFt({ remote: scene.remote });
  Object.assign(scene.env, { GITHUB_API_URL: ft.url, GITHUB_TOKEN: ftToken });
  // The remote is a folder here, which names no repository of a service.
  writeFileSync(path.join(scene.repo, 'gyre.yaml'), 'connect: { github: { repository: acme/seed } }\n');
  scene.settle();
  return {
    scene,
    ft,
    [Symbol.asyncDispose]: async () => {
      try {
        await scene[Symbol.asyncDispose]();
      } finally {
        await ft[Symbol.asyncDispose]();
      }
    },
  };
};

/** Branches of the bare remote under gyre/. */
export const offeredBranches = (scene: Scene): readonly string[] =>
  scene
    .git(`--git-dir=${scene.remote}`, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/gyre')
    .split('\n')
    .filter((name) => name !== '');
