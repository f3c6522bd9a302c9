import os from 'node:os';
import { createGate } from '../core/gate.ts';
import { type BoundedCall, type BoundedEnd, runHere } from './run-here.ts';
import { startRunner } from './runner.ts';

/** A thousand runs may want git in the same moment. More at once than this makes none of them quicker. */
const gate = createGate(2 + 2 * os.availableParallelism());
/** These wait for another machine, and must not keep the others from their turn. */
const networkGate = createGate(16);

let run: (call: BoundedCall) => Promise<BoundedEnd> = runHere;

/**
 * Runs a short program when its turn has come, in a process group of its own, to its end or to a limit. Never rejects; at its limit the
 * whole group is ended.
 */
export const runBounded = (call: BoundedCall, waitsFor: 'machine' | 'network'): Promise<BoundedEnd> =>
  (waitsFor === 'network' ? networkGate : gate)(() => run(call));

/**
 * From now on a small process of its own starts the short programs of this one, until what is returned is called. A large process stands
 * still while the system copies it for each start.
 * @param argv program and arguments of the runner (runner-main.ts)
 */
export const runThroughRunner = (argv: readonly string[]): (() => void) => {
  const runner = startRunner(argv);
  run = (call) => runner.run(call);
  return () => {
    run = runHere;
    runner.close();
  };
};
