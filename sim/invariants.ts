// The invariants of the simulator. Each is checked whenever something happens that could break it, or at the end (INV-06 and up where it
// says so), and each is proven able to fail by test/sim/invariants.test.ts.
export const invariants = {
  'INV-01': 'No task has two owners: never two open runs, never two live agents.',
  'INV-02': 'Nothing lands without a pass: exactly what landed was judged for its run, and is right.',
  'INV-03': 'A run lands once, and so does a task while its change waits or is on the target.',
  'INV-04': 'A step whose outcome is recorded is not performed again.',
  'INV-05': 'An agent is started once an attempt and stretch; after a crash it is adopted.',
  'INV-06': 'What a run says it spent is the sum of its sessions as recorded, and what they really cost; else it says unknown.',
  'INV-07': 'Spend that is known never passes the cap.',
  'INV-08': 'Every stretch of a run ends once, with one exit.',
  'INV-09': 'Every run ends or parks once nothing disturbs it any more.',
  'INV-10': 'No attempt is begun above the limit.',
  'INV-11': 'Every due window has exactly one end.',
  'INV-12': 'A window that fired has exactly one tick, any other none.',
  'INV-13': 'Nothing of an ended run is alive.',
  'INV-14': 'No process is started for a run that is not open.',
  'INV-15': 'What was committed stays: no fact is lost, and the hash chain holds.',
  'INV-16': 'A parked run goes on within a minute after its time has come, and none is forgotten.',
  'INV-17': 'No limit of runs at once is passed.',
  'INV-18': 'The engine never stops by itself.',
} as const;

export type InvariantName = keyof typeof invariants;

/** A broken promise: `seen` is one sentence. */
export interface Violation {
  readonly invariant: InvariantName;
  readonly seen: string;
}

export type Accuse = (invariant: InvariantName, seen: string) => void;
