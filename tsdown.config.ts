import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: {
    main: 'src/cli/main.ts',
    // Programs of their own: the shim outlives the engine, the runner starts git for a daemon, the scripted runner stands for an agent.
    shim: 'src/process/shim.ts',
    runner: 'src/workspace/runner-main.ts',
    'scripted-runner': 'src/agent/scripted-runner.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  fixedExtension: false,
  dts: false,
  clean: true,
  sourcemap: false,
  minify: false,
});
