// Prints a line every CHATTY_EVERY_MS (default 50) for CHATTY_MS (default 1000), then edits, says so and ends.
import { begin, edit, readPrompt, say, success } from './agent-kit.mjs';

begin();
readPrompt();
const until = Date.now() + Number(process.env.CHATTY_MS ?? 1_000);
let count = 0;
const timer = setInterval(
  () => {
    say({ type: 'assistant', text: `line ${(count += 1)}` });
    if (Date.now() < until) return;
    clearInterval(timer);
    edit();
    say(success());
  },
  Number(process.env.CHATTY_EVERY_MS ?? 50),
);
