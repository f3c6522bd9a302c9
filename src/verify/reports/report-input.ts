import type { ReportFormat, TestReport } from '../../core/test-report.ts';

/** What a test command left behind, as text. */
export interface ReportInput {
  readonly stdout: string;
  readonly stderr: string;
  /** Content of the report file, where the owner named one. Then stdout is not searched. */
  readonly file?: string | undefined;
  /** Where the owner named the format it is not guessed, and its absence is a broken report. */
  readonly format?: string | undefined;
  /** Absolute folder the command ran in: paths below it become relative, so that ids are the same in every checkout. */
  readonly cwd?: string | undefined;
}

/** The input of one reader: plain text (no terminal codes, LF only), already chosen between file and stdout. */
export interface ReaderInput {
  readonly text: string;
  readonly stderr: string;
  readonly cwd: string | undefined;
}

/** Reads one format. Pure; time is linear in the text. */
export interface ReportReader {
  readonly format: ReportFormat;
  /** Whether the text holds a report of this format, whole or torn. */
  recognises(input: ReaderInput): boolean;
  read(input: ReaderInput): TestReport;
}

export const broken = (format: ReportFormat, why: string): TestReport => ({ read: 'broken', format, why });
