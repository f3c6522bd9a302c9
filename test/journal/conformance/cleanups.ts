import { expect, test } from 'vitest';
import { type MakeLab, endOf, loop, start } from './lab.ts';

export const cleanupsConformance = (makeLab: MakeLab): void => {
  test('JNL-10 a cleanup that fails is said on the run, and the others still run', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const trail: string[] = [];
    const handler = loop(async (ctx) => {
      ctx.cleanup('first', async () => void trail.push('first'));
      ctx.cleanup('second', () => Promise.reject(new Error('folder is busy')));
      return 'ok';
    });
    const run = await endOf(lab, await engine.start(handler, null, start));
    expect(run).toMatchObject({ state: 'done', output: 'ok', error: { code: 'CLEANUP_FAILED' } });
    expect(trail).toEqual(['first']);
  });
};
