import type { CheckDefinition } from '../core/loop-definition.ts';
import type { ReportFormat, TestReport } from '../core/test-report.ts';
import type { ProcessResult } from '../process/index.ts';
import type { ReadReport } from './port.ts';
import type { RoomText } from './room-files.ts';

const known: readonly ReportFormat[] = ['tap', 'node-spec', 'jest-json', 'junit', 'pytest', 'go-json', 'cargo'];

/** The format to name when a report cannot be read at all: the one asked for, else what the file's ending says. */
const likelyFormat = ({ format, file }: CheckDefinition['report']): ReportFormat => {
  const named = known.find((one) => one === format);
  if (named !== undefined) return named;
  if (file?.endsWith('.json') === true) return 'jest-json';
  return file?.endsWith('.xml') === true ? 'junit' : 'tap';
};

interface ReportRequest {
  readonly check: CheckDefinition;
  readonly process: ProcessResult;
  readonly stdout: string;
  readonly stderr: string;
  readonly cwd: string;
  /** What was found at `check.report.file`; `undefined` when the check names none. */
  readonly file: RoomText | undefined;
  readonly read: ReadReport;
}

/** The test report of a finished command. A named file that is not there, and a report out of a stream that was cut, are broken (L2). */
export const observeReport = ({ check, process, stdout, stderr, cwd, file, read }: ReportRequest): TestReport => {
  if (file !== undefined && 'problem' in file)
    return { read: 'broken', format: likelyFormat(check.report), why: `The report file ${file.problem}` };
  const format = known.find((one) => one === check.report.format);
  if (check.report.format !== undefined && format === undefined)
    return { read: 'broken', format: likelyFormat(check.report), why: `The format ${JSON.stringify(check.report.format)} is not known.` };
  let report: TestReport;
  try {
    report = read({ stdout, stderr, cwd, ...(format === undefined ? {} : { format }), ...(file === undefined ? {} : { file: file.text }) });
  } catch (error) {
    return { read: 'broken', format: likelyFormat(check.report), why: `The report could not be read: ${String(error)}` };
  }
  const isCut = process.stdout.cut || process.stderr.cut;
  if (file === undefined && isCut && report.read === 'yes') {
    const lost = process.stdout.bytesSeen + process.stderr.bytesSeen - process.stdout.bytesKept - process.stderr.bytesKept;
    const why = `${lost} bytes of the output were cut, so tests may be missing. Name a report file with report.file.`;
    return { read: 'broken', format: report.format, why };
  }
  return report;
};
