// A tick told in plain lines. Every text that came from outside is made safe for a terminal first.
import { exitText } from '../core/exit.ts';
import { spendText } from '../core/spend.ts';
import { oneLine } from '../core/text.ts';
import type { TickEvent } from '../loop/index.ts';
import { landedText } from './landed-text.ts';
import { duration } from './print.ts';

export const tickLines = (event: TickEvent): readonly string[] => {
  switch (event.event) {
    case 'run-recovered':
      return [`Going on with run ${event.run} that an earlier process left open: ${oneLine(event.title)}`];
    case 'discovered': {
      const { tasks, setAside, problems } = event.discovery;
      return [
        `Found ${tasks.length} task${tasks.length === 1 ? '' : 's'} in ${duration(event.ms)}.`,
        ...setAside.map((aside) => `  set aside: ${oneLine(aside.title)} (${aside.why})`),
        ...problems.map((problem) => `  problem: ${oneLine(problem, 400)}`),
      ];
    }
    case 'skipped':
      return [`  skipped: ${oneLine(event.task.title)}: ${event.why}`];
    case 'run-started':
      return ['', `${event.reopened ? 'Going on with' : 'Run'} ${event.run} ${oneLine(event.task.title)}`];
    case 'attempt-started':
      return [`  attempt ${event.attempt}: ${event.agent} at work`];
    case 'agent-ended':
      return [
        `  attempt ${event.attempt}: agent ended (${event.outcome}), ${event.noModel ? 'no model was called' : spendText(event.spend)}`,
      ];
    case 'verdict':
      return [`  attempt ${event.attempt}: ${event.verdict.verdict.toUpperCase()} ${oneLine(event.summary, 300)}`];
    case 'note-refused':
      return [`  the note on the issue was not written: ${oneLine(event.why, 300)}`];
    case 'run-ended': {
      const { exit, landed } = event.output;
      return [
        `  => ${oneLine(exitText(exit), 400)}${landed === undefined || landed.landed === 'no' ? '' : `, ${landedText(landed)}`} (run ${event.run} )`,
      ];
    }
  }
};
