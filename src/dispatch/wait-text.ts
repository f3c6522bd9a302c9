import type { WaitReason } from './port.ts';
import type { Wake } from './wake.ts';

/** An instant for people and logs; the command line may say it in local time from the data instead. */
const at = (instant: number): string => new Date(instant).toISOString();

/** What a parked task waits for, in words. Pure. */
export const wakeText = (wake: Wake): string => {
  switch (wake.on) {
    case 'time':
      return `waits until ${at(wake.at)}`;
    case 'quota':
      return `waits for the limit of ${wake.provider} to end at ${at(wake.at)}`;
    case 'answer':
      return `waits for an answer to ${wake.question}`;
    case 'merge':
      return `waits until ${wake.of} is merged into ${wake.target}`;
    case 'person':
      return 'waits for a person';
  }
};

/** Why an item waits, as the end of a sentence: `waits for ...`. Pure. */
export const waitText = (reason: WaitReason): string => {
  switch (reason.why) {
    case 'parked':
      return wakeText(reason.wake);
    case 'needs':
      return `needs ${reason.tasks.join(', ')} to land first`;
    case 'blocked':
      return `blocked by ${reason.by}, which failed`;
    case 'needs-unknown':
      return `needs ${reason.task}, which no source has named`;
    case 'needs-circle':
      return `stands in a circle of needs: ${reason.tasks.join(' needs ')} needs ${reason.tasks[0] ?? ''}`;
    case 'owned':
      return `claimed by loop ${reason.loop}${reason.run === undefined ? '' : ` (run ${reason.run})`}`;
    case 'breaker':
      return `its loop fails alike again and again: ${reason.message}${reason.until === undefined ? '' : ` Tried again at ${at(reason.until)}`}`;
    case 'one-at-a-time':
      return `loop ${reason.loop} goes on with one run at a time until one gets through: ${reason.message}`;
    case 'quota':
      return `${reason.provider} does not serve until ${at(reason.until)}`;
    case 'full':
      return `${reason.of === 'machine' ? 'the machine' : `${reason.of} ${reason.name}`} has its ${reason.limit} runs at once`;
    case 'pace':
      return `the next start is due at ${at(reason.until)}`;
    case 'load':
      return `the load of the machine is ${reason.loadPerCpu.toFixed(1)} a processor, above ${reason.limit}`;
    case 'memory':
      return `${Math.round(reason.freeBytes / 1_048_576)} MB of memory are free, below ${Math.round(reason.limit / 1_048_576)}`;
  }
};
