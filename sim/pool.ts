// Spreads jobs over worker threads.
import { Worker } from 'node:worker_threads';
import type { Job } from './jobs.ts';
import type { SeedReport } from './simulate.ts';

export interface Done {
  readonly job: Job;
  readonly report: SeedReport;
}

/** Handed over at once: enough that no worker waits, few enough that all end together. */
const handful = 8;

/** Reports come in any order. @throws Error when a worker dies, with the jobs it held */
export const runJobs = async (
  jobs: readonly Job[],
  { workers, done }: { readonly workers: number; readonly done: (done: Done) => void },
): Promise<void> => {
  let next = 0;
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('worker.ts', import.meta.url));
      let held: readonly Job[] = [];
      const hand = (): void => {
        held = jobs.slice(next, next + handful);
        next += handful;
        if (held.length > 0) worker.postMessage(held, []);
        else void worker.terminate().then(() => resolve());
      };
      worker.on('message', (message: Done | 'more') => {
        if (message === 'more') hand();
        else done(message);
      });
      const lost = (why: string): void =>
        reject(new Error(`A worker died (${why}) over one of the seeds ${held.map(({ seed }) => seed).join(', ')}.`));
      worker.on('error', (error) => lost(String(error)));
      worker.on('exit', (code) => {
        if (code !== 0 && held.length > 0) lost(`exit ${code}`);
      });
      hand();
    });
  await Promise.all(Array.from({ length: Math.min(workers, Math.ceil(jobs.length / handful)) }, work));
};
