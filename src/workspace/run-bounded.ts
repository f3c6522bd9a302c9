import os from 'node:os';
import { createGate } from '../core/gate.ts';
import { type BoundedCall, type BoundedEnd, runHere } from './run-here.ts';
import { startRunner } from './runner.ts';

/**
 * A thousand runs may want git in the same moment. More at once than this makes none of them quicker; some are left for those that wait for
 * a network.
 */
const gate = createGate(16 + 2 * os.availableParallelism());

let run: (call: BoundedCall) => Promise<BoundedEnd> = runHere;

/**
 * Runs a short program when its turn has come, in a process group of its own, to its end or to a limit. Never rejects; at its limit the
 * whole group is ended.
 */
export const runBounded = (call: BoundedCall): Promise<BoundedEnd> => gate(() => run(call));

/**
 * From now on a small process of its own starts the short programs of this one, until what is returned is called. A large process stands
 * still while the system copies it for each start.
 * @param argv program and arguments of the runner (runner-main.ts)
 */
export const runThroughRunner = (argv: readonly string[]): (() => void) => {
  const runner = startRunner(argv);
  run = runner.run;
  return () => {
    run = runHere;
    runner.close();
  };
};
