import { testCodeGlobs, testSupportGlobs } from '../core/test-file-globs.ts';

/**
 * What an agent may not change unless the loop says so, as globs relative to the repository root: whatever decides if work is good.
 * Tests, the configuration of test runners, continuous integration, lock files, and Gyre's own files. `protect: []` protects nothing;
 * any other list replaces this one.
 */
export const defaultProtect: readonly string[] = [
  ...testCodeGlobs,
  ...testSupportGlobs,
  '**/.codecov.y*ml',
  '**/codecov.y*ml',
  // Continuous integration and review rules.
  '.github/**',
  '.gitlab-ci.y*ml',
  '.gitlab/**',
  '.circleci/**',
  '.buildkite/**',
  '.woodpecker/**',
  '.woodpecker.y*ml',
  '.drone.y*ml',
  '.travis.y*ml',
  'azure-pipelines.y*ml',
  'bitbucket-pipelines.y*ml',
  'Jenkinsfile',
  '**/CODEOWNERS',
  // Lock files: what the checks run on.
  '**/package-lock.json',
  '**/npm-shrinkwrap.json',
  '**/pnpm-lock.yaml',
  '**/yarn.lock',
  '**/bun.lock',
  '**/bun.lockb',
  '**/deno.lock',
  '**/Cargo.lock',
  '**/go.sum',
  '**/poetry.lock',
  '**/uv.lock',
  '**/pdm.lock',
  '**/Pipfile.lock',
  '**/Gemfile.lock',
  '**/composer.lock',
  '**/mix.lock',
  '**/gradle.lockfile',
  '**/packages.lock.json',
  '**/flake.lock',
  // Gyre's own files.
  '.gyre/**',
  '**/.gyre/**',
  'gyre.yaml',
  '**/gyre.yaml',
];
