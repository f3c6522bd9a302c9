import { fileURLToPath } from 'node:url';

const sources = {
  main: './main.ts',
  shim: '../process/shim.ts',
  runner: '../workspace/runner-main.ts',
  'scripted-runner': '../agent/scripted-runner.ts',
} as const;

/**
 * How to run one of Gyre's own helper programs: from its source while developing, from the bundle once built. Bundled chunks stand
 * side by side in one folder, sources do not.
 */
export const entryArgv = (name: keyof typeof sources): readonly string[] => {
  const fromSource = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(fromSource ? sources[name] : `./${name}.js`, import.meta.url));
  return [process.execPath, ...(fromSource ? ['--disable-warning=ExperimentalWarning'] : []), file];
};
