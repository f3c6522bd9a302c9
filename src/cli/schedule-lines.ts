import { oneLine } from '../core/text.ts';
import type { ScheduleReport } from '../schedule/index.ts';

const at = (instant: number): string => new Date(instant).toISOString();

/** What the schedule reports, as lines of the log. */
export const scheduleLines = (report: ScheduleReport): readonly string[] => {
  switch (report.kind) {
    case 'window-ended': {
      const { record } = report;
      const which =
        record.count === 1
          ? report.window
          : `${record.count} windows of ${record.loop}/${record.trigger} from ${at(record.from)} to ${at(record.to)}`;
      return [`${record.end}: ${oneLine(which, 400)}: ${oneLine(record.reason, 300)}`];
    }
    case 'clock-set-back':
      return [
        `The clock was set back from ${at(report.from)} to ${at(report.to)}: ${report.reopened} missed windows of ${report.loop}/${report.trigger} are due again, none that fired is.`,
      ];
    case 'loop-silent':
      return [`ALARM ${report.notice.sentence}`];
    case 'trouble':
      return [`${report.loop}/${report.trigger}: ${oneLine(report.sentence, 400)}`];
  }
};
