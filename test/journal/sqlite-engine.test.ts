import { engineConformance } from './conformance/index.ts';
import { makeSqliteLab } from './sqlite-lab.ts';

// Streams: purging is not merged yet.
engineConformance('SQLite journal', makeSqliteLab, ['streams']);
