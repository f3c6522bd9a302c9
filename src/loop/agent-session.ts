import type { AgentAdapter, AgentRequest } from '../agent/index.ts';
import { knownSpend } from '../core/spend.ts';
import { plainText } from '../core/text.ts';
import type { AgentRunResult } from '../core/agent-result.ts';
import type { AttemptRequest } from './attempt.ts';
import { keep } from './keep.ts';

const stderrTailBytes = 4_000;

/**
 * Lets the agent work and reads what came of it. The process is a spawn step (a restarted engine adopts it, never starts a second);
 * the reading is a step of its own over the kept output, so that a crash between the two loses nothing.
 */
export const runAgent = async (
  request: AttemptRequest & { readonly agent: AgentAdapter; readonly dir: string; readonly promptFile: string },
): Promise<AgentRunResult> => {
  const { parts, context, input, attempt, agent, dir, promptFile, remainingMs, earlier } = request;
  const { stop } = input.loop;
  const scope = `a${attempt}`;
  const spent = knownSpend(earlier.map((view) => view.record.spend));
  const session: AgentRequest = {
    cwd: input.prefix === '' ? dir : `${dir}/${input.prefix}`,
    promptFile,
    run: context.run.id,
    task: input.task.key,
    taskTitle: input.task.title,
    attempt,
    limits: {
      deadlineMs: Math.max(1_000, Math.min(stop.sessionMs, remainingMs)),
      idleMs: stop.idleMs,
      graceMs: 5_000,
      outputBytes: stop.outputBytes,
    },
    marker: context.run.id,
    budgetUsd: stop.budgetUsd === undefined ? undefined : Math.max(0, stop.budgetUsd - spent.usd),
    earlier: earlier.flatMap((view) => (view.agent === undefined ? [] : [view.agent])),
  };
  const spec = agent.spec(session);

  // The live reader has one purpose: to notice the final event, after which the agent has a short grace to end by itself.
  const live = agent.reader(session);
  let graceTimer: NodeJS.Timeout | undefined;
  try {
    const process = await context.spawn(`${scope}/agent`, spec, {
      watch: (running) =>
        running.onStdout({
          bytes: (chunk) => {
            live.push(chunk);
            // The final word may be taken back: an agent that goes on working is not ended.
            if (!live.sawFinal) clearTimeout(graceTimer);
            else graceTimer ??= setTimeout(() => running.end('after-result'), stop.resultGraceMs);
            if (!live.sawFinal) graceTimer = undefined;
          },
        }),
    });
    return await keep({ parts, context }, `${scope}/session`, async () => {
      const reader = agent.reader(session);
      reader.push(await parts.readFileBytes(process.stdout.path));
      const stderr = await parts.readFileBytes(process.stderr.path);
      return reader.finish({
        process,
        wasAdopted: process.wasAdopted,
        stderrTail: plainText(stderr.subarray(-stderrTailBytes).toString('utf8')),
      });
    });
  } finally {
    clearTimeout(graceTimer);
  }
};
