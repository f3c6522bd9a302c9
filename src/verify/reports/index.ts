// Readers of test reports: pure functions from text to what each test did.
export { isReportFormat, readTestReport, reportFormats } from './read-test-report.ts';
export type { ReportInput } from './report-input.ts';
