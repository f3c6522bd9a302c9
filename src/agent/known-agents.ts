/** A coding agent that may be installed on a machine. */
export interface KnownAgent {
  readonly name: string;
  /** Program to look for on PATH. */
  readonly command: string;
  /** `native`: `agent: <name>` works. `command`: only as a program of one's own, `agent: { use: command, command: ... }`. */
  readonly usable: 'native' | 'command';
  /** Names of the environment that hold its settings and its model keys; a trailing `*` means every name that begins so. */
  readonly environment: readonly string[];
}

// A session of Claude Code describes itself in the environment of what it starts. An agent that Gyre starts from inside such a session
// is not a part of it.
const claudeSessionNames = ['!CLAUDE_CODE_ENTRYPOINT', '!CLAUDE_CODE_SSE_PORT', '!CLAUDE_CODE_SESSION_*', '!CLAUDE_CODE_CHILD_SESSION'];

/** Agents that `gyre init` and `gyre doctor` look for, those that need no further work first. */
export const knownAgents: readonly KnownAgent[] = [
  {
    name: 'claude',
    command: 'claude',
    usable: 'native',
    environment: ['ANTHROPIC_*', 'CLAUDE_*', 'API_TIMEOUT_MS', ...claudeSessionNames],
  },
  { name: 'codex', command: 'codex', usable: 'command', environment: ['OPENAI_*', 'CODEX_*'] },
  { name: 'opencode', command: 'opencode', usable: 'command', environment: ['OPENCODE_*', 'OPENROUTER_API_KEY'] },
  { name: 'pi', command: 'pi', usable: 'command', environment: ['PI_*'] },
  { name: 'gemini', command: 'gemini', usable: 'command', environment: ['GEMINI_*', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL'] },
  { name: 'copilot', command: 'copilot', usable: 'command', environment: ['COPILOT_*'] },
  { name: 'qwen', command: 'qwen', usable: 'command', environment: ['QWEN_*', 'DASHSCOPE_API_KEY'] },
  { name: 'cline', command: 'cline', usable: 'command', environment: ['CLINE_*'] },
  { name: 'droid', command: 'droid', usable: 'command', environment: ['FACTORY_*'] },
];

/** Names of the environment for one known agent; none for an unknown name. */
export const environmentOf = (name: string): readonly string[] => knownAgents.find((agent) => agent.name === name)?.environment ?? [];

/** Names for a program of the user's own: it may be a wrapper around any known agent, so it gets the model settings of all of them. */
export const environmentOfAll: readonly string[] = knownAgents.flatMap((agent) => agent.environment);
