// Reads standard input to its end before anything else; then prints how much it was, edits, says so and ends.
import { begin, edit, readPrompt, say, success } from './agent-kit.mjs';

begin();
const prompt = readPrompt();
say({ type: 'prompt', bytes: prompt.length });
edit();
say(success());
