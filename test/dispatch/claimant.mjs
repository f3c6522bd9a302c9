// A process that claims: told over stdin when and what, it answers on stdout, one JSON line each.
import { createInterface } from 'node:readline';
import { epochMs } from '../../src/core/ids.ts';
import { openClaims } from '../../src/dispatch/index.ts';
import { isAlive, selfIdentity } from '../../src/process/index.ts';

const [stateRoot, stateHome] = process.argv.slice(2);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const claims = await openClaims({ stateRoot, clock: () => epochMs(Date.now()), isAlive });
say({ ready: process.pid });

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.do === 'claim') {
    const holder = { process: selfIdentity(), stateHome, run: order.run };
    // All claimants begin at the same moment: a spin is closer to it than a timer.
    while (Date.now() < order.at);
    say(claims.claim({ key: order.key, holder, leaseMs: order.leaseMs }));
  } else if (order.do === 'holds') {
    say({ holds: claims.holds(order) });
  }
}
claims.close();
