import type { NeedState, QueuedItem, WaitReason } from './port.ts';

/** Most tasks looked at on the way round a circle. */
const circleMax = 1_000;

/**
 * The keys that stand in a circle of needs (A needs B, B needs A), each with the keys of its circle. Pure. A key that joins a circle
 * found already may be missing: it then waits for a task of that circle, which says so itself.
 * @param queue what is queued, in turn; a task outside of it cannot be waiting for one inside
 */
export const circlesOf = (queue: readonly QueuedItem[]): ReadonlyMap<string, readonly string[]> => {
  const needs = new Map<string, readonly string[]>();
  for (const item of queue) if (item.needs.length > 0) needs.set(item.task, [...(needs.get(item.task) ?? []), ...item.needs]);
  const circles = new Map<string, readonly string[]>();
  const done = new Set<string>();
  for (const start of needs.keys()) {
    // Depth first with its own stack: a chain of needs may be long.
    const path: string[] = [];
    const onPath = new Map<string, number>();
    const stack: { readonly key: string; readonly left: string[] }[] = [];
    const enter = (key: string): void => {
      if (done.has(key) || !needs.has(key) || path.length >= circleMax) return;
      const at = onPath.get(key);
      if (at !== undefined) {
        const circle = path.slice(at);
        for (const one of circle) circles.set(one, circle);
        return;
      }
      onPath.set(key, path.length);
      path.push(key);
      stack.push({ key, left: [...(needs.get(key) ?? [])] });
    };
    enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.left.pop();
      if (next !== undefined) {
        enter(next);
        continue;
      }
      stack.pop();
      path.pop();
      onPath.delete(top.key);
      done.add(top.key);
    }
  }
  return circles;
};

/** Why the needs of an item hold it back; `undefined` when all have landed (DSP-07). Pure. */
export const unmetNeeds = (
  item: QueuedItem,
  known: ReadonlyMap<string, NeedState>,
  circles: ReadonlyMap<string, readonly string[]>,
): WaitReason | undefined => {
  if (item.needs.length === 0) return undefined;
  const states = item.needs.map((task) => ({ task, state: known.get(task) }));
  const failed = states.find(({ state }) => state === 'failed');
  if (failed !== undefined) return { why: 'blocked', by: failed.task };
  const circle = circles.get(item.task);
  if (circle !== undefined) return { why: 'needs-circle', tasks: circle };
  // A need that nobody has heard of may be a slip of the pen or a source that failed: no news is not good news (L2).
  const unknown = states.find(({ state }) => state === undefined);
  if (unknown !== undefined) return { why: 'needs-unknown', task: unknown.task };
  const waiting = states.filter(({ state }) => state !== 'landed').map(({ task }) => task);
  return waiting.length === 0 ? undefined : { why: 'needs', tasks: waiting };
};
