// One gate over everything that needs no test run. Each step prints its own findings; the last line says what failed.
// The boundary step fails when the tool read fewer modules than there are files: a gate that read nothing passes everything.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const run = (name, command, args, options = {}) => ({ name, ...spawnSync(command, args, { stdio: 'inherit', ...options }) });
const files = (dir, wanted) =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && wanted(entry.name));

/** Reads the imports of `src` under a folder and holds them against the rules. */
const cruise = (cwd) => {
  const config = path.resolve('.dependency-cruiser.mjs');
  const done = spawnSync('depcruise', ['--config', config, '--output-type', 'json', 'src'], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  return JSON.parse(done.stdout || '{"modules":[],"summary":{"violations":[]}}');
};

const boundaries = () => {
  const report = cruise('.');
  const read = report.modules.filter((module) => module.source.startsWith('src/')).length;
  const present = files('src', (name) => name.endsWith('.ts')).length;
  for (const { rule, from, to } of report.summary.violations) process.stdout.write(`  ${rule.name}: ${from} -> ${to}\n`);
  if (read < present) process.stdout.write(`  read ${read} modules of ${present}: the boundary check saw too little to say anything\n`);
  else process.stdout.write(`  ${read} modules, ${report.summary.violations.length} violations\n`);
  // Rules that reject nothing are decoration: a tree made of wrong imports has to be refused, each by its own rule.
  const caught = new Set(cruise('test/canary').summary.violations.map(({ rule }) => rule.name));
  const missed = ['core-imports-nobody', 'loop-through-the-door', 'nobody-imports-cli'].filter((rule) => !caught.has(rule));
  for (const rule of missed) process.stdout.write(`  the canary was not caught by ${rule}\n`);
  return { name: 'boundaries', status: read < present || report.summary.violations.length > 0 || missed.length > 0 ? 1 : 0 };
};

const steps = {
  types: () => run('types', 'tsc', ['-p', 'tsconfig.json']),
  pure: () => run('pure core', 'tsc', ['-p', 'tsconfig.pure.json']),
  lint: () => run('lint', 'oxlint', ['--type-aware', '--deny-warnings']),
  format: () => run('format', 'oxfmt', ['--check', '.']),
  boundaries,
  dead: () => run('dead code', 'knip', ['--no-progress']),
  build: () => run('build', 'tsdown', ['--log-level', 'warn']),
  package: () => run('package', 'publint', ['--strict']),
  start: () => run('built program', process.execPath, [path.join('dist', 'main.js'), '--version']),
};

const only = process.argv.slice(2);
const failed = [];
for (const [key, step] of Object.entries(steps)) {
  if (only.length > 0 && !only.includes(key)) continue;
  process.stdout.write(`== ${key}\n`);
  const done = step();
  if (done.status !== 0) failed.push(key);
}
process.stdout.write(failed.length === 0 ? 'check: all steps passed\n' : `check: failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
