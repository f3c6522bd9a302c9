// Kills a real daemon at random points during real loops, starts it again each time, and shows that nothing was lost, nothing done twice
// and nothing left behind. What is checked: test/testkit/kill/findings.ts.
// Usage: npm run prove:kill [-- --points n] [-- --seed n] [-- --log file] [-- --json]
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Kill, playKills } from '../test/testkit/kill/campaign.ts';
import { machineFacts, median, printTable } from './table.ts';

const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    log: { type: 'string' },
    json: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
});
const points = Number(values.points);
const seed = Number(values.seed);
const lines: string[] = [];

const tell = (text: string): void => {
  lines.push(text);
  if (!values.json) process.stdout.write(`${text}\n`);
};

const killLine = ({ number, delayMs, doing, restartMs }: Kill): string =>
  `${String(number).padStart(3)}  killed after ${String(delayMs).padStart(4)} ms  next up after ${restartMs === undefined ? '   -' : String(restartMs).padStart(4)} ms  ${doing}`;

tell(`seed ${seed}, ${points} kills; ${machineFacts()}`);
const campaign = await playKills({
  points,
  seed,
  told: (kill) => tell(killLine(kill)),
  keep: (world) => {
    if (values.keep !== undefined) cpSync(path.dirname(world.repo), values.keep, { recursive: true });
  },
});
const restarts = campaign.kills.flatMap((kill) => kill.restartMs ?? []);
const figures = {
  seed,
  points,
  tasks: campaign.tasks,
  agentCalls: campaign.calls,
  ticks: campaign.ticks,
  facts: campaign.facts,
  wallS: campaign.wallMs / 1_000,
  restartMedianMs: median(restarts),
  restartLongestMs: Math.max(...restarts),
  findings: campaign.findings,
};
if (values.json) process.stdout.write(`${JSON.stringify({ machine: machineFacts(), ...figures, kills: campaign.kills }, null, 2)}\n`);
else {
  process.stdout.write('\n');
  printTable(
    ['figure', 'value'],
    [
      ['kills', String(points)],
      ['tasks given, each landed once', String(figures.tasks)],
      ['agent calls', String(figures.agentCalls)],
      ['ticks', String(figures.ticks)],
      ['facts in the journal', String(figures.facts)],
      ['restart until up, median', `${figures.restartMedianMs} ms`],
      ['restart until up, longest', `${figures.restartLongestMs} ms`],
      ['wall', `${figures.wallS.toFixed(0)} s`],
      ['findings', String(figures.findings.length)],
    ],
  );
}
lines.push(
  `${figures.tasks} tasks, ${figures.agentCalls} agent calls, ${figures.ticks} ticks, ${figures.facts} facts, ${figures.wallS.toFixed(0)} s; restart median ${figures.restartMedianMs} ms, longest ${figures.restartLongestMs} ms`,
  ...(figures.findings.length === 0
    ? ['0 lost, 0 doubled, 0 orphans, 0 leaked worktrees: nothing found']
    : figures.findings.map((finding) => `! ${finding}`)),
);
if (values.log !== undefined) writeFileSync(values.log, `${lines.join('\n')}\n`);
if (figures.findings.length > 0) {
  for (const finding of figures.findings) process.stderr.write(`! ${finding}\n`);
  process.stderr.write(`Again: npm run prove:kill -- --points ${points} --seed ${seed}\n`);
  process.exitCode = 1;
}
