import { CancelledError, type RunRow } from '../journal/index.ts';
import { Defect, Fault, Rejection } from '../core/fault.ts';
import type { CommitSha } from '../core/ids.ts';
import type { Discovery } from '../discover/index.ts';
import { type Admission, type EndedRun, interrupted, tickOutputOf } from '../loop/index.ts';
import type { EvidenceStore } from '../verify/index.ts';

/** A tick with everything it saw, as `gyre run --json` prints it. */
export interface TickReport {
  readonly base: CommitSha;
  readonly discovery: Discovery;
  readonly planned: readonly Admission[];
  readonly runs: readonly EndedRun[];
  readonly halted: string | undefined;
  readonly exitCode: number;
}

/**
 * Reads an ended tick back.
 * @throws what ended it otherwise: Fault or Rejection as recorded, CancelledError
 */
export const tickReportOf = async (row: RunRow, evidence: EvidenceStore): Promise<TickReport> => {
  const output = tickOutputOf(row);
  if (output === undefined) throw errorOf(row);
  const read = async <T>(hash: typeof output.discovery): Promise<T> => JSON.parse((await evidence.get(hash)).toString('utf8')) as T;
  return { ...output, discovery: await read<Discovery>(output.discovery), planned: await read<readonly Admission[]>(output.planned) };
};

const errorOf = ({ state, error }: RunRow): Error => {
  if (state === 'cancelled') return new CancelledError(error?.message ?? interrupted);
  if (error === undefined) return new Defect('A tick ended without an outcome and without an error.');
  const hint = error.hint === undefined ? {} : { hint: error.hint };
  if (error.code === 'REJECTION') return new Rejection(error.message, hint);
  if (error.code === 'DEFECT') return new Defect(error.message);
  return new Fault(error.code, error.message, hint);
};
