import type { ManagedProcess, ProcessHost } from '../src/process/index.ts';
import type { Machine, SimProcess } from './machine.ts';
import type { Stage } from './stage.ts';

/** The process host of one life over the machine that outlives it. */
export const fakeProcesses = (stage: Stage, machine: Machine): ProcessHost => {
  const managed = (process: SimProcess, wasAdopted: boolean): ManagedProcess => ({
    jobDir: process.jobDir,
    wasAdopted,
    result: new Promise((resolve) => {
      const told = (result: NonNullable<SimProcess['result']>): void => {
        if (stage.isAlive()) resolve(result);
      };
      if (process.result === undefined) process.listeners.push(told);
      else told(process.result);
    }),
    onStdout: () => {},
    end: (reason) => {
      if (stage.isAlive()) process.end(reason);
    },
  });
  return {
    open: (jobDir, spec) =>
      stage.effect(`open ${jobDir}`, () => {
        const known = machine.process(jobDir);
        return known === undefined ? managed(machine.start(jobDir, spec), false) : managed(known, true);
      }),
    inspect: (jobDir) =>
      stage.look(() => {
        const known = machine.process(jobDir);
        if (known === undefined) return 'absent';
        if (known.result === undefined) return 'running';
        return known.result.end === 'lost' ? 'lost' : 'ended';
      }),
    revoke: (jobDir) => stage.look(() => (machine.process(jobDir) === undefined ? 'revoked' : 'claimed')),
    sweep: async (marker) => {
      const left = await stage.effect(`sweep ${marker}`, () => machine.alive().filter((process) => process.spec.marker === marker));
      for (const process of left) process.end('cancelled');
      // The real one proves that they are gone.
      while (left.some((process) => process.result === undefined)) await stage.pause(1_000);
      return left.length;
    },
  };
};
