// The boundaries of DESIGN section 4: `core/` imports nobody, a folder imports other folders' doors only, only compose.ts and the
// commands join things, no cycles. scripts/check.mjs fails when this read fewer modules than there are files.
const folders = [
  'process',
  'journal',
  'discover',
  'workspace',
  'agent',
  'verify',
  'land',
  'connect',
  'config',
  'loop',
  'schedule',
  'dispatch',
  'server',
];

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'core-imports-nobody', severity: 'error', from: { path: '^src/core/' }, to: { pathNot: '^src/core/' } },
    ...folders.map((folder) => ({
      name: `${folder}-through-the-door`,
      severity: 'error',
      comment: `Rooms of src/${folder} are reached through its index.ts (loop/ and schedule/ have read.ts too, the light half of their doors)`,
      from: { path: '^src/', pathNot: `^src/${folder}/` },
      to: { path: `^src/${folder}/`, pathNot: `^src/${folder}/(index|read)\\.ts$` },
    })),
    { name: 'nobody-imports-cli', severity: 'error', from: { path: '^src/', pathNot: '^src/cli/' }, to: { path: '^src/cli/' } },
    { name: 'no-test-code-in-src', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench|e2e)/' } },
    { name: 'no-unresolvable', severity: 'error', from: { path: '^src' }, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'default'],
    },
  },
};
