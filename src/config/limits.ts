// The bounds of this folder, each with its unit last.

/** A loop file is an instruction for a person to read; anything larger is a mistake, or a file that is not a loop. */
export const configFileBytes = 256 * 1024;
/** One prompt as a whole. Far below every context window in use, far above any instruction a person wrote. */
export const promptBytes = 512 * 1024;
/** One piece of text that came from a task or from an attempt, inside a prompt. */
export const promptPieceBytes = 384 * 1024;
/** Aliases a YAML file may expand to: a few short lines of anchors can otherwise grow to gigabytes. */
export const yamlAliasCount = 100;
/** Issues reported of one file; the rest is counted. */
export const issueCount = 100;
/** Time a template may take to render. It only has to end a template that never ends. */
export const templateMs = 10_000;
/** Letters and list items a template may make while it renders (liquidjs counts them together). */
export const templateMemoryUnits = 20_000_000;
/** Longest duration: timers of Node count milliseconds in 31 bits, which is 24.8 days. */
export const durationMsMax = 7 * 24 * 3_600_000;
