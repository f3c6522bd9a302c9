import type { ReportFormat, TestReport } from '../../core/test-report.ts';
import { plainText } from '../../core/text.ts';
import { cargoReader } from './cargo.ts';
import { goJsonReader } from './go-json.ts';
import { jestJsonReader } from './jest-json.ts';
import { junitReader } from './junit.ts';
import { nodeSpecReader } from './node-spec.ts';
import { pytestReader } from './pytest.ts';
import { broken, type ReportInput, type ReportReader } from './report-input.ts';
import { tapReader } from './tap.ts';

const readers: readonly ReportReader[] = [goJsonReader, jestJsonReader, junitReader, nodeSpecReader, tapReader, pytestReader, cargoReader];

/** The formats that are read, as a loop's `report: { format }` names them. */
export const reportFormats: readonly ReportFormat[] = readers.map((reader) => reader.format);

export const isReportFormat = (text: string): text is ReportFormat => reportFormats.some((format) => format === text);

// The note of a stream whose middle was thrown away, alone on its line. Some formats could lose whole tests there unseen.
const cutNote = /^\[\.\.\. [^\n]{1,200} cut by Gyre \.\.\.\]$/m;

/**
 * Reads what a test command said. Pure, linear in the text.
 *
 * The format is the one named, or guessed; where two fit the report is broken, because half of a result must never look like the
 * whole (L2). A report that breaks off or contradicts itself is `broken`; an output of no known format is `no-format`; a run of no
 * test at all is read with an empty list. Only leaf tests are listed, and suites or files that fail with nothing red inside them.
 */
export const readTestReport = (input: ReportInput): TestReport => {
  const text = plainText(input.file ?? input.stdout);
  const reading = { text, stderr: input.file === undefined ? plainText(input.stderr) : '', cwd: input.cwd };
  const named = input.format;
  if (named !== undefined && !isReportFormat(named))
    return broken('tap', `${JSON.stringify(named)} is no report format. Known are ${reportFormats.join(', ')}.`);
  const fitting = readers.filter((reader) => (named === undefined ? reader.recognises(reading) : reader.format === named));
  // The compiler's complaint on stderr makes cargo fit; beside another report it is somebody else's output.
  const usable =
    fitting.length > 1 ? fitting.filter((reader) => reader !== cargoReader || reader.recognises({ ...reading, stderr: '' })) : fitting;
  const [reader, other] = usable;
  if (reader === undefined) return { read: 'no-format' };
  if (other !== undefined)
    return broken(
      reader.format,
      `The output holds reports of two formats, ${reader.format} and ${other.format}. Name one with report.format, or split the check.`,
    );
  if (named !== undefined && !reader.recognises(reading))
    return broken(named, `No ${named} report was found in the ${input.file === undefined ? 'output' : 'report file'}.`);
  if (cutNote.test(text))
    return broken(reader.format, 'The output was too long and its middle was cut, so tests may be missing. Write the report to a file.');
  return reader.read(reading);
};
