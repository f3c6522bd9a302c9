// Edits, prints its final success event, then never ends and keeps stdout open.
import { begin, edit, hang, readPrompt, say, success } from './agent-kit.mjs';

begin();
readPrompt();
edit();
say(success());
hang();
