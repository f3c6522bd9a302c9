// Gives signals to the engine: node signal-child.ts <state home> <who> <count>
import { requestSignal } from '../../src/journal/index.ts';

const [stateHome = '', who = '', count = '0'] = process.argv.slice(2);
for (let index = 0; index < Number(count); index += 1) {
  requestSignal(stateHome, { run: '', name: 'note', payload: `${who} ${index} ä`, by: who });
}
