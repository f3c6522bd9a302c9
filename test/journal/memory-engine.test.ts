import { engineConformance } from './conformance/index.ts';
import { makeMemoryLab } from './memory-lab.ts';

engineConformance('model in memory', makeMemoryLab);
