import { parentPort } from 'node:worker_threads';
import type { Job } from './jobs.ts';
import { simulate } from './simulate.ts';

parentPort?.on('message', (jobs: readonly Job[]) => {
  void (async () => {
    for (const job of jobs) parentPort?.postMessage({ job, report: await simulate(job) }, []);
    parentPort?.postMessage('more', []);
  })();
});
