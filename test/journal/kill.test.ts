import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { JournalReader } from '../../src/journal/index.ts';
import { openReader } from '../../src/journal/index.ts';
import { makeLab } from './lab.ts';

const killChild = fileURLToPath(new URL('kill-child.ts', import.meta.url));
const kills = 18;

const countLines = (file: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
};

const allFacts = (reader: JournalReader) =>
  [...reader.exportLines()].map((line) => JSON.parse(line) as { kind: string; run: string; data: { key?: string } });

test(
  'P1 P2 L5 kill -9 at random points: all runs end, no recorded step happens again, no acknowledged fact is lost',
  { timeout: 240_000 },
  async () => {
    await using lab = makeLab('gyre kill ü ');
    const ledger = `${lab.stateHome}-ledger`;
    const stopFile = `${lab.stateHome}-stop`;
    const startChild = () => {
      const child = spawn(process.execPath, [killChild, lab.stateHome, ledger, stopFile], { stdio: ['ignore', 'pipe', 'inherit'] });
      return { child, exited: once(child, 'exit') };
    };
    /** How often each step had happened when the journal first held its outcome. */
    const whenRecorded = new Map<string, number>();

    for (let kill = 0; kill < kills; kill += 1) {
      const { child, exited } = startChild();
      await once(child.stdout, 'data');
      await delay(Math.random() * 150);
      child.kill('SIGKILL');
      await exited;
      const happened = countLines(ledger);
      using reader = openReader(lab.stateHome);
      expect(reader?.verify()).toMatchObject({ ok: true });
      for (const fact of reader === undefined ? [] : allFacts(reader)) {
        const line = `done ${fact.run} ${fact.data.key ?? ''}`;
        if (fact.kind === 'step.completed' && happened.has(line) && !whenRecorded.has(line))
          whenRecorded.set(line, happened.get(line) ?? 0);
      }
    }
    writeFileSync(stopFile, '');
    const { exited } = startChild();
    expect(await exited).toEqual([0, null]);

    using reader = openReader(lab.stateHome);
    const happened = countLines(ledger);
    const runs = reader?.runs() ?? [];
    expect(runs.length).toBeGreaterThan(3);
    expect(runs.filter((run) => run.state !== 'done')).toEqual([]);
    expect(whenRecorded.size).toBeGreaterThan(10);
    for (const [line, times] of whenRecorded) expect(`${line}: ${happened.get(line)}`).toBe(`${line}: ${times}`);
    for (const run of runs) {
      for (const key of ['step-0', 'step-5', 'left', 'tidy'])
        expect(happened.get(`done ${run.id} ${key}`) ?? 0, `${run.id} ${key}`).toBeGreaterThan(0);
      expect(happened.get(`process ${run.id}`) ?? 0, `process of ${run.id}`).toBeLessThanOrEqual(1);
    }
    const facts = reader === undefined ? [] : allFacts(reader);
    const notes = facts.filter((fact) => fact.kind === 'note.made').map((fact) => fact.run);
    expect(new Set(notes).size).toBe(notes.length);
    for (const run of runs) if (happened.has(`ack ${run.id}`)) expect(notes).toContain(run.id);
    // Each life but a cleanly ended one was taken over from a dead process.
    expect(facts.filter((fact) => fact.kind === 'owner.taken')).toHaveLength(kills + 1);
    expect(reader?.verify()).toMatchObject({ ok: true });
  },
);
