import { exitText } from '../../core/exit.ts';
import { spendText } from '../../core/spend.ts';
import { oneLine } from '../../core/text.ts';
import { isOpen, type JournalReader, type RunRow } from '../../journal/index.ts';
import { attemptsOf, calledNoModel, inputOf, noticeRegister, nowOf, outputOf, taskHandler } from '../../loop/read.ts';
import { duration, line, printJson, table } from '../print.ts';
import { daemonOf } from '../daemon-state.ts';
import { readJournalAtOnce } from '../place.ts';

const newest = 20;

/** What a person has to know that belongs to no run: a breaker that opened, a silent loop, a loop file that cannot be read. */
interface Notice {
  readonly kind: string;
  readonly sentence?: string;
  readonly text?: string;
}

/** What an open run is doing; `alive` says whether an engine is at work. */
export const workText = (run: RunRow, alive: boolean): string => {
  if (run.attention !== undefined) return `needs a person: ${run.attention.message}`;
  if (run.state === 'paused') return 'paused';
  if (!alive) return 'interrupted: `gyre up` or `gyre run` goes on with it';
  const now = nowOf(run);
  return now === undefined ? run.state : `at work: attempt ${now.attempt}, ${now.stage}`;
};

/** What a list says of one run; also the JSON shape of `gyre status --json`. */
export const summaryOf = (run: RunRow) => {
  const { task, loop } = inputOf(run);
  const attempts = attemptsOf(run);
  const output = isOpen(run) ? undefined : outputOf(run);
  return {
    run: run.id,
    loop: loop.name,
    task: task.key,
    title: task.title,
    state: run.state,
    now: output === undefined ? nowOf(run) : undefined,
    exit: output?.exit,
    landed: output?.landed,
    attempts: attempts.length,
    lastVerdict: attempts.at(-1)?.record.verdict,
    spend: output?.spend,
    noModel: calledNoModel(run),
    startedAt: new Date(run.startedAt).toISOString(),
    endedAt: run.endedAt === undefined ? undefined : new Date(run.endedAt).toISOString(),
  };
};

/** What `gyre status` shows, read from the journal. */
export const statusOf = (reader: JournalReader | undefined, { all }: { readonly all: boolean }) => {
  // The newest alone: a repository may have many thousand runs, and each is read whole.
  const shown = reader?.runs({ loop: taskHandler.name, newestFirst: true, ...(all ? {} : { limit: newest }) }).toReversed() ?? [];
  return {
    owner: reader?.owner(),
    daemon: daemonOf(reader),
    notices: (reader?.register(noticeRegister) ?? []).map((entry) => entry.value as Notice),
    shown,
    count: shown.length < newest || all ? shown.length : (reader?.count({ loop: taskHandler.name }) ?? 0),
  };
};

export const status = async (options: { readonly all?: boolean; readonly json?: boolean }): Promise<void> => {
  const { stateHome, reader } = await readJournalAtOnce();
  const { owner, daemon, notices, shown, count } = statusOf(reader, { all: options.all === true });
  if (options.json === true) {
    printJson({ stateHome, owner, daemon, notices, runs: shown.map(summaryOf) });
    return;
  }
  for (const notice of notices) line(`! ${oneLine(notice.sentence ?? notice.text ?? notice.kind, 400)}`);
  if (count === 0) {
    line('No run yet in this repository. Start one with: gyre run');
    return;
  }
  if (daemon !== undefined) line(`Gyre is up as process ${daemon.identity.pid} since ${new Date(daemon.startedAt).toISOString()}.`);
  else if (owner?.alive === true) line(`Gyre is at work here as process ${owner.identity.pid}.`);
  const rows = shown.toReversed().map((run) => {
    const summary = summaryOf(run);
    const state = summary.exit === undefined ? workText(run, owner?.alive === true) : exitText(summary.exit);
    const took = run.endedAt === undefined ? '' : duration(run.endedAt - run.startedAt);
    const cost = summary.spend === undefined ? '' : summary.noModel ? 'no model' : spendText(summary.spend);
    return [run.id, summary.loop, `${summary.attempts} att.`, took, cost, oneLine(summary.title, 50), oneLine(state, 110)];
  });
  for (const row of table([['RUN', 'LOOP', 'TRIES', 'TOOK', 'COST', 'TASK', 'OUTCOME'], ...rows])) line(row);
  if (shown.length < count) line(`${count - shown.length} older runs are not shown: gyre status --all`);
};
