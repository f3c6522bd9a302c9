import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSlots } from '../../src/journal/slots.ts';

const never = new AbortController().signal;

/** Asks for slots and notes when it has got them. */
const asker = (capacity: Readonly<Record<string, number>>) => {
  const slots = createSlots(capacity);
  const got: string[] = [];
  const held = new Map<string, () => void>();
  return {
    slots,
    got,
    ask: (name: string, wanted: Readonly<Record<string, number>>, priority = 0, signal = never): Promise<unknown> =>
      slots.acquire({ wanted, priority, signal }).then(
        (release) => {
          got.push(name);
          return held.set(name, release);
        },
        (error: unknown) => error,
      ),
    release: async (name: string): Promise<void> => {
      held.get(name)?.();
      await delay(0);
    },
  };
};

test('DUR-10 all wanted slots are taken together, and a small wish does not overtake a large one for the same slot', async () => {
  const { ask, got, release } = asker({ agent: 2, gpu: 1 });
  void ask('one', { agent: 1 });
  void ask('both', { agent: 2, gpu: 1 });
  void ask('small', { agent: 1 });
  void ask('other', { net: 5 });
  await delay(0);
  expect(got).toEqual(['one', 'other']);
  await release('one');
  expect(got).toEqual(['one', 'other', 'both']);
  await release('both');
  await release('both');
  expect(got).toEqual(['one', 'other', 'both', 'small']);
});

test('DUR-11 a higher priority goes first, and giving up a place lets the next one in', async () => {
  const { ask, got, release } = asker({ agent: 1 });
  const leaving = new AbortController();
  void ask('first', { agent: 1 });
  void ask('low', { agent: 1 }, 0);
  void ask('high', { agent: 1 }, 5);
  const gone = ask('gone', { agent: 1 }, 9, leaving.signal);
  leaving.abort(new Error('cancelled'));
  expect(await gone).toMatchObject({ message: 'cancelled' });
  await release('first');
  expect(got).toEqual(['first', 'high']);
  await release('high');
  expect(got).toEqual(['first', 'high', 'low']);
});

test('DUR-12 wanting more than there is fails at once; a process that runs already takes its slot beyond the number', async () => {
  const { slots, ask, got, release } = asker({ agent: 1 });
  expect(await ask('too-much', { agent: 2 })).toMatchObject({ code: 'SLOTS_IMPOSSIBLE' });
  const releases = [slots.seize({ agent: 1 }), slots.seize({ agent: 1 })];
  void ask('new', { agent: 1 });
  for (const give of releases) {
    await release('nobody');
    expect(got).toEqual([]);
    give();
  }
  await delay(0);
  expect(got).toEqual(['new']);
});
