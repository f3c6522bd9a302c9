import { engineConformance } from './conformance/index.ts';
import { makeSqliteLab } from './sqlite-lab.ts';

engineConformance('SQLite journal', makeSqliteLab);
