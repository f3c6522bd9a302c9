// Prints a perfect success and changes nothing.
import { begin, readPrompt, say, success } from './agent-kit.mjs';

begin();
readPrompt();
say(success('Fixed the bug, all 42 tests pass, nothing else to do.'));
