// One gate over everything that needs no test run. Each step prints its own findings; the last line says what failed.
// The boundary step fails when the tool read fewer modules than there are files: a gate that read nothing passes everything.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const run = (name, command, args, options = {}) => ({ name, ...spawnSync(command, args, { stdio: 'inherit', ...options }) });
const files = (dir, wanted) =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && wanted(entry.name));

const boundaries = () => {
  const done = spawnSync('depcruise', ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src'], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  const report = JSON.parse(done.stdout || '{"modules":[],"summary":{"violations":[]}}');
  const read = report.modules.filter((module) => module.source.startsWith('src/')).length;
  const present = files('src', (name) => name.endsWith('.ts')).length;
  for (const { rule, from, to } of report.summary.violations) process.stdout.write(`  ${rule.name}: ${from} -> ${to}\n`);
  if (read < present) process.stdout.write(`  read ${read} modules of ${present}: the boundary check saw too little to say anything\n`);
  else process.stdout.write(`  ${read} modules, ${report.summary.violations.length} violations\n`);
  return { name: 'boundaries', status: read < present || report.summary.violations.length > 0 ? 1 : 0 };
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
