import { createEvidenceStore } from '../../verify/index.ts';
import { exitText } from '../../core/exit.ts';
import { spendText } from '../../core/spend.ts';
import { oneLine } from '../../core/text.ts';
import { attemptsOf, calledNoModel, inputOf, outputOf } from '../../loop/read.ts';
import type { AttemptView } from '../../loop/index.ts';
import { findRun, readJournal } from '../place.ts';
import { landedText } from '../landed-text.ts';
import { duration, line, printJson } from '../print.ts';
import { summaryOf, workText } from './status.ts';
import path from 'node:path';

export const show = async (text: string, options: { readonly evidence?: boolean; readonly json?: boolean }): Promise<void> => {
  const { place, reader } = await readJournal();
  const run = findRun(reader, text);
  const attempts = attemptsOf(run);
  const ended = run.endedAt !== undefined;
  const store = createEvidenceStore(path.join(place.stateHome, 'evidence'));
  const records =
    options.evidence === true
      ? await Promise.all(
          attempts.flatMap(({ evidence }) =>
            evidence === undefined ? [] : [store.get(evidence).then((bytes) => JSON.parse(bytes.toString('utf8')) as unknown)],
          ),
        )
      : undefined;
  if (options.json === true) {
    printJson({ ...summaryOf(run), input: inputOf(run), attemptViews: attempts, evidence: records });
    return;
  }
  const { task, loop, base } = inputOf(run);
  line(`Run ${run.id}`);
  line(`  task     ${oneLine(task.title, 200)}`);
  line(`  loop     ${loop.name} (${loop.file})`);
  line(`  base     ${base}`);
  if (ended) {
    const output = outputOf(run);
    line(`  outcome  ${oneLine(exitText(output.exit), 1_000)}`);
    if (output.landed !== undefined) line(`  landed   ${landedText(output.landed)}`);
    line(`  spend    ${calledNoModel(run) ? 'no model was called' : spendText(output.spend)}`);
  } else line(`  state    ${workText(run, reader?.owner()?.alive === true)}`);
  for (const { record, agent, verdict, candidate, evidence, startedAt, endedAt } of attempts) {
    line();
    line(`Attempt ${record.attempt} (${duration(endedAt - startedAt)})`);
    line(
      `  agent    ${agent === undefined ? 'unknown' : `${agent.agent.id} ${agent.agent.version ?? ''}`.trim()}: ${record.agentOutcome}${endedBy(agent)}`,
    );
    if (agent !== undefined && agent.text !== '') line(`  it said  ${oneLine(agent.text, 160)}`);
    line(`  verdict  ${record.verdict}: ${oneLine(record.summary, 1_000)}`);
    for (const note of verdict?.notes ?? []) line(`  note     ${oneLine(note, 200)}`);
    if (candidate !== undefined) line(`  change   ${candidate.slice(0, 12)} (gyre diff ${run.id} --attempt ${record.attempt})`);
    if (evidence !== undefined) line(`  evidence ${store.path(evidence)}`);
  }
  if (records !== undefined) {
    line();
    printJson(records);
  }
};

/** Why Gyre ended a session that went on: its work was over, or a refusal that it tried to outwait. */
const endedBy = (agent: AttemptView['agent']): string => {
  if (agent?.process.endedAfterResult !== true) return '';
  return agent.result.outcome === 'completed' ? ', ended by Gyre after its result' : ', ended by Gyre because it went on trying';
};
