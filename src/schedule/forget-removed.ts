import type { EpochMs } from '../core/ids.ts';
import type { Registers, ScheduledLoop, Ticks, TriggerState, Window, WindowRecord } from './port.ts';
import { silentKey } from './lane.ts';
import { triggerKey } from './window-id.ts';

/**
 * Ends what waits of triggers that are no more (removed, or edited into another one), and forgets where they were: should one come
 * back, it begins anew, without the windows in between.
 */
export const forgetRemoved = async ({
  registers,
  ticks,
  loops,
  now,
}: {
  readonly registers: Registers;
  readonly ticks: Ticks;
  readonly loops: readonly ScheduledLoop[];
  readonly now: EpochMs;
}): Promise<void> => {
  const known = new Set(loops.flatMap((loop) => loop.triggers.map((trigger) => triggerKey(loop.name, trigger.id))));
  for (const { key, value } of registers.list('triggers', {})) {
    if (known.has(key)) continue;
    const state = value as TriggerState;
    const end = (window: Window): { readonly register: string; readonly key: string; readonly value: WindowRecord } => {
      const isFired = ticks.exists(window.id);
      const record: WindowRecord = {
        loop: window.loop,
        trigger: window.trigger,
        end: isFired ? 'fired' : 'superseded',
        reason: isFired ? 'Its tick was found after an interruption.' : 'Its trigger was removed or changed while it waited.',
        from: window.at,
        to: window.at,
        count: 1,
        at: now,
      };
      return { register: 'windows', key: window.id, value: record };
    };
    const open = [...(state.starting === undefined ? [] : [state.starting]), ...state.pending.map(({ window }) => window)];
    await registers.put([
      { register: 'triggers', key, value: undefined },
      { register: 'notices', key: silentKey(key), value: undefined },
      ...open.map(end),
    ]);
  }
};
