import { expect, test } from 'vitest';
import { playKills } from '../testkit/kill/campaign.ts';

test('P1 P2 L5 L13 a daemon killed 12 times in the midst of its loops: every task lands once, each agent is called once an attempt, nothing is left', async () => {
  const campaign = await playKills({ points: 12, seed: 12, told: () => undefined });
  expect(campaign.findings).toEqual([]);
  expect(campaign.kills).toHaveLength(12);
  expect(campaign.tasks).toBeGreaterThanOrEqual(8);
}, 400_000);
