import { engineConformance } from './conformance/index.ts';
import { makeSqliteLab } from './sqlite-lab.ts';

// Parts whose features are not merged yet.
engineConformance('SQLite journal', makeSqliteLab, [
  'crash policies',
  'signals',
  'timers',
  'children',
  'map and race',
  'pauses',
  'slots',
  'retries',
  'budgets',
  'versions',
  'blobs',
  'ownership',
  'requests',
  'streams',
  'history limits',
]);
