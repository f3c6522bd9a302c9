// Never prints, never ends.
import { begin, hang, readPrompt } from './agent-kit.mjs';

begin();
readPrompt();
hang();
