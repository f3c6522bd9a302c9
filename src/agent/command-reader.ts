import { isAgentErrorClass, type AgentOutcome, type AgentRunResult } from '../core/agent-result.ts';
import { oneLine } from '../core/text.ts';
import type { ProcessResult } from '../process/index.ts';
import type { JsonObject } from './json-fields.ts';
import { jsonObjectOf, numberAt, textAt } from './json-fields.ts';
import { lastWords, TailOfLines } from './last-words.ts';
import { LineSplitter } from './line-splitter.ts';
import type { StreamLine } from './line-splitter.ts';
import type { AgentReader, AgentRequest } from './port.ts';
import { endText, failedOutcome, outcomeOfEnd, processPart } from './process-outcome.ts';
import { reportedUsage } from './reported-usage.ts';
import { resetOf, saysLimit } from './reset-of.ts';
import { SpendMeter } from './spend-meter.ts';

/** A program that failed by its exit code: only the last line of its stderr may say that it was a limit, and until when. */
const failedWith = (message: string, input: { readonly process: ProcessResult; readonly stderrLine: string }): AgentOutcome => {
  const isLimit = saysLimit(input.stderrLine, input.process);
  const found = isLimit ? 'rate-limit' : 'unknown';
  return failedOutcome({ class: found, message, reset: resetOf({ class: found, message: input.stderrLine }, input.process) });
};

/**
 * The outcome of a program that Gyre did not cut short: its exit code, unless its final event says that it failed.
 * @param final the program's `{"type":"result", ...}` line, where it printed one
 */
export const commandOutcome = (input: {
  readonly process: ProcessResult;
  readonly final: JsonObject | undefined;
  readonly stderrLine: string;
}): AgentOutcome => {
  const { process, final } = input;
  const said = input.stderrLine === '' ? '' : ` It said on stderr: ${input.stderrLine}`;
  if (final?.['is_error'] === true) {
    const message = oneLine(textAt(final, 'result') ?? '', 500);
    const named = textAt(final, 'error');
    if (named === 'context-overflow' || textAt(final, 'terminal_reason') === 'prompt_too_long')
      return { outcome: 'limit', limit: 'context' };
    const found = isAgentErrorClass(named) ? named : saysLimit(message, process) ? 'rate-limit' : 'unknown';
    return failedOutcome({
      class: found,
      message: message === '' ? `The agent's final event says that it failed.${said}` : message,
      reset: resetOf({ class: found, message, epoch: numberAt(final, 'resets_at') }, process),
    });
  }
  // Gyre ended it because its final event stood: the exit code is then the signal's.
  if (process.end === 'after-result' || process.exitCode === 0) return { outcome: 'completed' };
  if (process.signal !== null)
    return { outcome: 'crashed', why: `The agent was ended by ${endText(process)}, which Gyre did not send.${said}` };
  return failedWith(`The agent ended with ${endText(process)}.${said}`, { process, stderrLine: input.stderrLine });
};

/**
 * Reads the output of a program of the user's own: any text, and among it lines of JSON that report spend or the final event. The
 * formats are in docs/reference/agents.md.
 */
export class CommandReader implements AgentReader {
  readonly #request: AgentRequest;
  readonly #command: readonly string[];
  readonly #splitter = new LineSplitter();
  readonly #tail = new TailOfLines();
  readonly #meter: SpendMeter;
  #final: JsonObject | undefined;
  #session: string | undefined;

  constructor(request: AgentRequest, command: readonly string[]) {
    this.#request = request;
    this.#command = command;
    this.#meter = new SpendMeter(request.earlier);
  }

  get sawFinal(): boolean {
    return this.#final !== undefined;
  }

  push(chunk: Uint8Array): void {
    this.#read(this.#splitter.push(chunk));
  }

  finish(input: Parameters<AgentReader['finish']>[0]): AgentRunResult {
    this.#read(this.#splitter.end());
    const { usage, spend } = this.#meter.total();
    const stderrLine = oneLine(input.stderrTail.trim().split('\n').at(-1) ?? '', 300);
    const outcome = outcomeOfEnd(input.process, this.#request.limits);
    return {
      agent: { id: 'command', version: undefined, channel: 'raw', command: this.#command },
      session: { id: this.#meter.session ?? this.#session, resumable: false },
      result: outcome ?? commandOutcome({ process: input.process, final: this.#final, stderrLine }),
      ...processPart(input),
      text: lastWords(textAt(this.#final, 'result') ?? this.#tail.text()),
      usage,
      usageSource: spend.usd === undefined && spend.tokens === undefined ? 'none' : 'agent',
      spend,
      turns: 0,
      tools: [],
      denials: [],
      retries: 0,
    };
  }

  #read(lines: readonly StreamLine[]): void {
    for (const line of lines) {
      if (line.kind === 'skipped') {
        this.#tail.add(`[... a line of ${line.bytes} bytes left out by Gyre ...]`);
        continue;
      }
      const object = jsonObjectOf(line.text);
      const report = object === undefined ? undefined : reportedUsage(object);
      if (report !== undefined) this.#meter.count(report);
      const isFinal = object !== undefined && textAt(object, 'type') === 'result' && ('is_error' in object || 'result' in object);
      if (isFinal) this.#final = object;
      if (object !== undefined) this.#session = textAt(object, 'session_id') ?? this.#session;
      if (report === undefined && !isFinal) this.#tail.add(line.text);
    }
  }
}
