import { parentPort } from 'node:worker_threads';
import { type Job, perform } from './jobs.ts';

parentPort?.on('message', (jobs: readonly Job[]) => {
  void (async () => {
    for (const job of jobs) parentPort?.postMessage({ job, report: await perform(job) });
    parentPort?.postMessage('more');
  })();
});
