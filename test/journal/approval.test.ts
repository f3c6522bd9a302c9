import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openReader, requestSignal } from '../../src/journal/index.ts';
import { makeLab, until } from './lab.ts';

const child = fileURLToPath(new URL('approval-child.ts', import.meta.url));
const fixture = fileURLToPath(new URL('fixtures/schema-1.sqlite.gz', import.meta.url));

test(
  'P10 P12 a run of an older schema waits for an approval after the upgrade; the wait and the answer survive kill -9',
  { timeout: 120_000 },
  async () => {
    await using lab = makeLab();
    mkdirSync(lab.stateHome, { recursive: true });
    writeFileSync(path.join(lab.stateHome, 'journal.sqlite'), gunzipSync(readFileSync(fixture)));
    const live = () => {
      const engine = spawn(process.execPath, [child, lab.stateHome], { stdio: ['ignore', 'pipe', 'inherit'] });
      return { engine, exited: once(engine, 'exit') };
    };
    const waits = () => {
      using reader = openReader(lab.stateHome);
      return reader?.run('open')?.waits;
    };

    for (let life = 0; life < 2; life += 1) {
      const { engine, exited } = live();
      await once(engine.stdout, 'data');
      await until('the approval is pending', () => waits()?.length === 1);
      engine.kill('SIGKILL');
      await exited;
      expect(waits()).toEqual([{ key: 'land', on: 'signal', signal: 'approval', describe: 'Land it?' }]);
    }
    const approval = { run: 'open', name: 'approval', payload: 'yes', dedupeKey: 'once', by: 'ada' };
    expect(requestSignal(lab.stateHome, approval)).toEqual({ accepted: true, duplicate: false });
    expect(requestSignal(lab.stateHome, approval)).toEqual({ accepted: true, duplicate: true });
    const { exited } = live();
    expect(await exited).toEqual([0, null]);

    using reader = openReader(lab.stateHome);
    expect(reader?.run('open')).toMatchObject({ state: 'done', output: ['first', 'yes', 'ada'], waits: [] });
    expect(reader?.signals('open')).toMatchObject([{ takenBy: 'land' }]);
    expect(reader?.verify()).toMatchObject({ ok: true });
  },
);
