import type { AgentOutcome, AgentRunResult, ToolUse } from '../core/agent-result.ts';
import { oneLine } from '../core/text.ts';
import { claudeOutcome, refusalOf } from './claude-outcome.ts';
import type { ClaudeEnding, ClaudeRefusal } from './claude-outcome.ts';
import { claudeUsage } from './claude-usage.ts';
import type { JsonObject } from './json-fields.ts';
import { asObject, jsonObjectOf, listAt, numberAt, objectAt, textAt } from './json-fields.ts';
import { lastWords } from './last-words.ts';
import { LineSplitter } from './line-splitter.ts';
import type { StreamLine } from './line-splitter.ts';
import type { AgentReader, AgentRequest } from './port.ts';
import { outcomeOfEnd, processPart } from './process-outcome.ts';

/** Most tool calls, answers and denials that are remembered of one session. */
const rememberedMax = 10_000;

/**
 * Reads `claude -p --output-format stream-json --verbose`: one JSON object a line, `type` names the event, the last one is `result`.
 * Events of unknown types, lines that are no JSON, and fields that are missing change nothing. Seen with versions 2.1.197 to 2.1.332.
 */
export class ClaudeReader implements AgentReader {
  readonly #request: AgentRequest;
  readonly #command: readonly string[];
  readonly #splitter = new LineSplitter();
  readonly #answers = new Set<string>();
  readonly #tools = new Map<string, ToolUse>();
  readonly #denials = new Map<string, string>();
  #session: string | undefined;
  #version: string | undefined;
  #result: JsonObject | undefined;
  #answerError: string | undefined;
  #answerText = '';
  #refusal: ClaudeRefusal | undefined;
  #limitResetsAt: number | undefined;
  #retries = 0;
  #linesSkipped = 0;
  #sawFinal = false;

  constructor(request: AgentRequest, command: readonly string[]) {
    this.#request = request;
    this.#command = command;
  }

  get sawFinal(): boolean {
    return this.#sawFinal;
  }

  push(chunk: Uint8Array): void {
    this.#read(this.#splitter.push(chunk));
  }

  finish(input: Parameters<AgentReader['finish']>[0]): AgentRunResult {
    this.#read(this.#splitter.end());
    const { usage, spend, source } = claudeUsage(this.#result);
    return {
      agent: { id: 'claude', version: this.#version, channel: 'native', command: this.#command },
      session: { id: this.#session, resumable: this.#session !== undefined },
      result: this.#outcome(input),
      ...processPart(input),
      text: lastWords(textAt(this.#result, 'result') ?? this.#answerText),
      usage,
      usageSource: source,
      spend,
      turns: this.#answers.size,
      tools: [...this.#tools.values()],
      denials: [...this.#denials.values()].map((tool) => ({ tool, by: 'policy' })),
      retries: this.#retries,
    };
  }

  #outcome(input: Parameters<AgentReader['finish']>[0]): AgentOutcome {
    const ending = this.#result === undefined ? undefined : this.#ending(this.#result);
    const stderrLine = oneLine(input.stderrTail.trim().split('\n').at(-1) ?? '', 300);
    return (
      outcomeOfEnd(input.process, this.#request.limits) ??
      claudeOutcome({ ending, refusal: this.#refusal, process: input.process, linesSkipped: this.#linesSkipped, stderrLine })
    );
  }

  #ending(result: JsonObject): ClaudeEnding {
    const errors = listAt(result, 'errors').filter((error) => typeof error === 'string');
    return {
      subtype: textAt(result, 'subtype'),
      isError: result['is_error'] === true,
      terminalReason: textAt(result, 'terminal_reason'),
      stopReason: textAt(result, 'stop_reason'),
      apiErrorStatus: numberAt(result, 'api_error_status'),
      apiError: textAt(result, 'api_error'),
      answerError: this.#answerError,
      message: oneLine(textAt(result, 'result') ?? errors.join('; '), 500),
      limitResetsAt: this.#limitResetsAt,
    };
  }

  #read(lines: readonly StreamLine[]): void {
    for (const line of lines) {
      if (line.kind === 'skipped') this.#linesSkipped += 1;
      else {
        const event = jsonObjectOf(line.text);
        if (event !== undefined) this.#take(event);
      }
    }
  }

  #take(event: JsonObject): void {
    const type = textAt(event, 'type');
    if (type === undefined) return;
    this.#session = textAt(event, 'session_id') ?? this.#session;
    if (type === 'result') {
      this.#result = event;
      this.#sawFinal = true;
      for (const denial of listAt(event, 'permission_denials')) this.#deny(asObject(denial));
    } else if (type === 'assistant') {
      this.#sawFinal = false;
      this.#refusal = undefined;
      this.#answer(event);
    } else if (type === 'user') {
      this.#toolResults(event);
    } else if (type === 'system') {
      this.#system(event);
    } else if (type === 'rate_limit_event') {
      const limit = objectAt(event, 'rate_limit_info');
      this.#limitResetsAt = textAt(limit, 'status') === 'rejected' ? numberAt(limit, 'resetsAt') : undefined;
    }
  }

  #system(event: JsonObject): void {
    const subtype = textAt(event, 'subtype');
    if (subtype === 'init') {
      this.#sawFinal = false;
      this.#version = textAt(event, 'claude_code_version') ?? this.#version;
    } else if (subtype === 'api_retry') {
      this.#retries += 1;
      // A refused key is final until an answer comes after all: a login that is being renewed is refused once or twice.
      this.#refusal = refusalOf(textAt(event, 'error'), numberAt(event, 'error_status'));
      this.#sawFinal = this.#refusal !== undefined;
    } else if (subtype === 'permission_denied') {
      this.#deny(event);
    }
  }

  /** An answer comes as one event per block, all with the same `message.id`. */
  #answer(event: JsonObject): void {
    const message = objectAt(event, 'message');
    const id = textAt(message, 'id');
    const own = textAt(event, 'parent_tool_use_id') === undefined;
    if (own) this.#answerError = textAt(event, 'error');
    // `<synthetic>` marks the program's own messages, for which no model was asked.
    if (own && id !== undefined && textAt(message, 'model') !== '<synthetic>' && this.#answers.size < rememberedMax) this.#answers.add(id);
    for (const part of listAt(message, 'content')) {
      const block = asObject(part);
      const kind = textAt(block, 'type');
      if (kind === 'text' && own) this.#answerText = textAt(block, 'text') ?? '';
      const toolId = textAt(block, 'id');
      if (kind === 'tool_use' && toolId !== undefined && this.#tools.size < rememberedMax && !this.#tools.has(toolId)) {
        // Not ok until its result says so: a tool that was cut short has none.
        this.#tools.set(toolId, { id: toolId, name: textAt(block, 'name') ?? 'unknown', ok: false });
      }
    }
  }

  #toolResults(event: JsonObject): void {
    for (const part of listAt(objectAt(event, 'message'), 'content')) {
      const block = asObject(part);
      if (textAt(block, 'type') !== 'tool_result') continue;
      const tool = this.#tools.get(textAt(block, 'tool_use_id') ?? '');
      if (tool !== undefined) this.#tools.set(tool.id, { ...tool, ok: block?.['is_error'] !== true });
    }
  }

  /** The same denial comes as an event and again in the result. */
  #deny(denial: JsonObject | undefined): void {
    const tool = textAt(denial, 'tool_name');
    if (tool === undefined || this.#denials.size >= rememberedMax) return;
    this.#denials.set(textAt(denial, 'tool_use_id') ?? `${tool} ${this.#denials.size}`, tool);
  }
}
