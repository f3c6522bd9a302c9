// Deliberately broken parts, by which the tests prove that the invariants can fail.
export const sabotages = [
  'lands-unjudged',
  'starts-twice',
  'forgets-outcome',
  'forgets-window',
  'fires-nothing',
  'fires-twice',
  'counts-no-spend',
  'never-ends',
  'lands-twice',
  'leaves-process',
  'forgets-parked',
  'overspends',
] as const;

export type Sabotage = (typeof sabotages)[number];
