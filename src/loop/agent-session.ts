import type { AgentAdapter } from '../agent/index.ts';
import { plainText } from '../core/text.ts';
import type { AgentRunResult } from '../core/agent-result.ts';
import type { AttemptRequest } from './attempt.ts';

const stderrTailBytes = 4_000;

/**
 * Lets the agent work and reads what came of it. The process is a spawn step (a restarted engine adopts it, never starts a second);
 * the reading is a step of its own over the kept output, so that a crash between the two loses nothing.
 */
export const runAgent = async (
  request: AttemptRequest & { readonly agent: AgentAdapter; readonly dir: string; readonly promptFile: string },
): Promise<AgentRunResult> => {
  const { parts, context, input, attempt, agent, dir, promptFile, remainingMs } = request;
  const { stop } = input.loop;
  const scope = `a${attempt}`;
  const spec = agent.spec({
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
  });

  // The live reader has one purpose: to notice the final event, after which the agent has a short grace to end by itself.
  const live = agent.reader();
  let graceTimer: NodeJS.Timeout | undefined;
  try {
    const process = await context.spawn(`${scope}/agent`, spec, {
      watch: (running) =>
        running.onStdout({
          bytes: (chunk) => {
            live.push(chunk);
            if (live.sawFinal) graceTimer ??= setTimeout(() => running.end('after-result'), stop.resultGraceMs);
          },
        }),
    });
    return await context.step(`${scope}/session`, {}, async () => {
      const reader = agent.reader();
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
