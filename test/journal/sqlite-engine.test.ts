import { engineConformance } from './conformance.ts';
import { makeLab } from './lab.ts';

engineConformance('SQLite journal', () => makeLab());
