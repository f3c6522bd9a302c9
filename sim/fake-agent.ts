import type { AgentAdapter, AgentReader } from '../src/agent/index.ts';
import type { AgentErrorClass, AgentOutcome, AgentRunResult } from '../src/core/agent-result.ts';
import { epochMs } from '../src/core/ids.ts';
import type { ProcessResult } from '../src/process/index.ts';
import type { AgentOrder, AgentReport } from './programs.ts';

const failedOf = (kind: AgentErrorClass, report: AgentReport): AgentOutcome => ({
  outcome: 'failed',
  error: {
    class: kind,
    message: `The provider said ${kind}.`,
    retryable: true,
    httpStatus: undefined,
    resetAt: report.resetAt === undefined ? undefined : epochMs(report.resetAt),
  },
});

const outcomeOf = (process: ProcessResult, report: AgentReport | undefined): AgentOutcome => {
  if (process.end === 'cancelled') return { outcome: 'cancelled' };
  if (process.end === 'deadline' || process.end === 'idle') return { outcome: 'timed-out', limit: process.end, limitMs: process.wallMs };
  if (report === undefined || report.outcome === 'crash') return { outcome: 'crashed', why: `The process ended: ${process.end}.` };
  switch (report.outcome) {
    case 'completed':
      return { outcome: 'completed' };
    case 'budget':
      return { outcome: 'limit', limit: 'budget' };
    case 'overflow':
      return failedOf('context-overflow', report);
    case 'auth':
    case 'rate-limit':
      return failedOf(report.outcome, report);
  }
};

const readerOf = (): AgentReader => {
  const chunks: Uint8Array[] = [];
  return {
    push: (chunk) => void chunks.push(chunk),
    sawFinal: false,
    finish: ({ process, wasAdopted, stderrTail }): AgentRunResult => {
      const text = Buffer.concat(chunks).toString('utf8');
      const report = text === '' ? undefined : (JSON.parse(text) as AgentReport);
      const usd = report?.usd;
      return {
        agent: { id: 'simulated', version: undefined, channel: 'raw', command: ['agent'] },
        session: { id: undefined, resumable: false },
        result: outcomeOf(process, report),
        process: {
          exitCode: process.exitCode,
          signal: process.signal,
          wallMs: process.wallMs,
          orphansKilled: 0,
          endedAfterResult: false,
          wasAdopted,
        },
        text: '',
        usage: [],
        usageSource: usd === undefined ? 'none' : 'agent',
        spend: { usd, tokens: undefined },
        turns: 1,
        tools: [],
        denials: [],
        retries: 0,
        stdout: process.stdout,
        stderr: process.stderr,
        stderrTail,
      };
    },
  };
};

/** An agent that reports in JSON, by an adapter that believes it as far as an adapter should. */
export const fakeAgent = (): AgentAdapter => ({
  id: 'simulated',
  channel: 'raw',
  capabilities: { cancel: 'signal', turnLimit: false, budgetLimit: true, usage: 'per-run', cost: true, finalEvent: false, resume: false },
  label: 'simulated',
  probe: () => Promise.resolve({ installed: true, version: undefined, path: undefined, problem: '' }),
  spec: ({ run, task, attempt, budgetUsd, cwd, limits, marker }) => {
    const order: AgentOrder = { run, task, attempt, budgetUsd };
    return {
      command: 'agent',
      args: [JSON.stringify(order)],
      cwd,
      env: {},
      stdin: { kind: 'none' },
      limits,
      marker,
      whenOwnerDies: 'outlive',
      askSignal: 'SIGTERM',
    };
  },
  reader: readerOf,
});
