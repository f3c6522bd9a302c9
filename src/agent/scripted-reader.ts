import type { AgentOutcome, AgentRunResult } from '../core/agent-result.ts';
import { noSpend } from '../core/spend.ts';
import { oneLine } from '../core/text.ts';
import type { ProcessResult } from '../process/index.ts';
import { TailOfLines } from './last-words.ts';
import { LineSplitter } from './line-splitter.ts';
import type { StreamLine } from './line-splitter.ts';
import { scriptedExit } from './perform-step.ts';
import type { AgentReader, AgentRequest } from './port.ts';
import { endText, failedOutcome, outcomeOfEnd, processPart } from './process-outcome.ts';
import { resetOf, saysLimit } from './reset-of.ts';

const scriptedOutcome = (process: ProcessResult, stderrTail: string): AgentOutcome => {
  if (process.end === 'after-result' || process.exitCode === 0) return { outcome: 'completed' };
  const said = oneLine(stderrTail, 1000);
  if (process.signal !== null)
    return { outcome: 'crashed', why: `The scripted agent was ended by ${endText(process)}, which Gyre did not send.` };
  const isScriptAtFault = process.exitCode === scriptedExit.badScript || process.exitCode === scriptedExit.noEntry;
  const message = said === '' ? `The scripted agent ended with ${endText(process)}.` : said;
  const lastLine = oneLine(stderrTail.trim().split('\n').at(-1) ?? '', 300);
  const found = isScriptAtFault ? 'config' : saysLimit(lastLine, process) ? 'rate-limit' : 'unknown';
  return failedOutcome({ class: found, message, reset: resetOf({ class: found, message: lastLine }, process) });
};

/** Reads the scripted agent: its output is text alone, and no model was called. */
export class ScriptedReader implements AgentReader {
  readonly #request: AgentRequest;
  readonly #command: readonly string[];
  readonly #splitter = new LineSplitter();
  readonly #tail = new TailOfLines();

  constructor(request: AgentRequest, command: readonly string[]) {
    this.#request = request;
    this.#command = command;
  }

  /** It has no final event: the end of its process is its end. */
  get sawFinal(): boolean {
    return false;
  }

  push(chunk: Uint8Array): void {
    this.#read(this.#splitter.push(chunk));
  }

  finish(input: Parameters<AgentReader['finish']>[0]): AgentRunResult {
    this.#read(this.#splitter.end());
    return {
      agent: { id: 'scripted', version: undefined, channel: 'scripted', command: this.#command },
      session: { id: undefined, resumable: false },
      result: outcomeOfEnd(input.process, this.#request.limits) ?? scriptedOutcome(input.process, input.stderrTail),
      ...processPart(input),
      text: this.#tail.text(),
      usage: [],
      usageSource: 'no-model',
      spend: noSpend,
      turns: 0,
      tools: [],
      denials: [],
      retries: 0,
    };
  }

  #read(lines: readonly StreamLine[]): void {
    for (const line of lines) this.#tail.add(line.kind === 'line' ? line.text : `[... a line of ${line.bytes} bytes left out by Gyre ...]`);
  }
}
