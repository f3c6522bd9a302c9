// Writes half of its edit, prints an unfinished turn and no final event, exits 0.
import { writeFileSync } from 'node:fs';

import { begin, edits, readPrompt, say } from './agent-kit.mjs';

begin();
readPrompt();
for (const [file, text] of edits()) writeFileSync(file, text.slice(0, Math.floor(text.length / 2)));
say({ type: 'assistant', text: 'Now I am going to' });
