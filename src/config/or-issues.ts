import type { Issue } from '../core/fault.ts';

/** A value, or everything that keeps it from being one. */
export type OrIssues<Value extends object> = Value | readonly Issue[];

export const isIssues = (value: object): value is readonly Issue[] => Array.isArray(value);
