import { expect, test } from 'vitest';
import { runId } from '../../../src/core/ids.ts';
import { type MakeLab, aborted, endOf, gate, loop, start } from './lab.ts';

export const runsConformance = (makeLab: MakeLab): void => {
  test('JNL-04 the same id, or the dedupe key of an open run, starts nothing', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let executions = 0;
    const { opened, open: openGate } = gate();
    const handler = loop(async () => {
      executions += 1;
      await opened;
      return executions;
    });
    const handles = await Promise.all([
      engine.start(handler, null, start),
      engine.start(handler, null, start),
      engine.start(handler, null, { ...start, id: runId('r2') }),
    ]);
    openGate();
    const runs = await Promise.all(handles.map((handle) => handle.ended));
    expect(runs.map((run) => run.id)).toEqual(['r1', 'r1', 'r1']);
    expect(executions).toBe(1);
    const later = await endOf(lab, await engine.start(handler, null, { ...start, id: runId('r3') }));
    expect(later.id).toBe('r3');
    await expect(engine.reopen(handler, start.id, null).then((handle) => handle.ended)).resolves.toMatchObject({ generation: 2 });
  });

  test('JNL-12 recover leaves runs of unknown loops as they are', async () => {
    await using lab = makeLab();
    const handler = loop(async (ctx) => aborted(ctx.signal).then(() => ctx.signal.throwIfAborted()));
    const first = await lab.open();
    await first.start(handler, null, start);
    await first[Symbol.asyncDispose]();
    const second = await lab.open();
    expect(
      await second.recover([
        { ...handler, name: 'other' },
        { ...handler, version: 2 },
      ]),
    ).toEqual([]);
    expect(second.reader.run('r1')).toMatchObject({ state: 'running', generation: 1 });
    expect(await second.recover([handler])).toHaveLength(1);
  });
};
