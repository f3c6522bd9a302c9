// The order of a loop's queue.
//
//   turn = enqueuedAt - priority * priorityStepMs        priority counted within -100 and 100; the lowest turn is first
//
// One point of priority is worth ten minutes of waiting. Because ages grow alike, the order never changes as time goes by, and because
// priority is bounded, an item is overtaken only by what arrives within 200 * 10 minutes (33 h 20 min) after it: none waits for ever.
import type { QueuedItem } from './port.ts';

const priorityStepMs = 10 * 60_000;
const priorityMax = 100;

const turnOf = (item: QueuedItem): number => {
  // What is no number counts as nothing said.
  const priority = Number.isNaN(item.priority) ? 0 : Math.min(Math.max(item.priority, -priorityMax), priorityMax);
  return item.enqueuedAt - priority * priorityStepMs;
};

/** First come first, as far as priority allows; ties by place, then by id. Pure; the order depends on the items alone, not on the list given. */
export const inTurn = (items: readonly QueuedItem[]): readonly QueuedItem[] =>
  items
    .map((item) => ({ item, turn: turnOf(item) }))
    .toSorted((a, b) => a.turn - b.turn || a.item.place - b.item.place || (a.item.id < b.item.id ? -1 : a.item.id > b.item.id ? 1 : 0))
    .map(({ item }) => item);
