import type { AgentRequest } from './port.ts';

// One string of the environment is limited to 128 KiB on Linux; a title is for people and needs far less.
const titleLettersMax = 1000;

/** The names by which an agent's own scripts know what they work on. */
export const runVariables = (request: AgentRequest): Readonly<Record<string, string>> => ({
  GYRE_RUN: request.run,
  GYRE_TASK: request.task,
  // A variable ends at its first NUL.
  GYRE_TASK_TITLE: request.taskTitle.replaceAll('\0', '').slice(0, titleLettersMax).toWellFormed(),
  GYRE_ATTEMPT: String(request.attempt),
  GYRE_PROMPT_FILE: request.promptFile,
});
