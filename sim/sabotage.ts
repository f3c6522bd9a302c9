// Deliberately broken parts, by which the tests prove that the invariants can fail: each has to be caught by the invariant named here.
import type { InvariantName } from './invariants.ts';

export const sabotages = {
  'starts-twice': 'INV-01',
  'lands-unjudged': 'INV-02',
  'lands-twice': 'INV-03',
  'forgets-outcome': 'INV-04',
  'adopts-nothing': 'INV-05',
  'counts-no-spend': 'INV-06',
  overspends: 'INV-07',
  'ends-twice': 'INV-08',
  'never-ends': 'INV-09',
  'tries-on': 'INV-10',
  'forgets-window': 'INV-11',
  'fires-nothing': 'INV-12',
  'fires-twice': 'INV-12',
  'leaves-process': 'INV-13',
  'starts-unowned': 'INV-14',
  'loses-facts': 'INV-15',
  'forgets-parked': 'INV-16',
  'ignores-limits': 'INV-17',
  'loses-disk': 'INV-18',
} as const satisfies Readonly<Record<string, InvariantName>>;

export type Sabotage = keyof typeof sabotages;

export const sabotageNames = Object.keys(sabotages) as readonly Sabotage[];
