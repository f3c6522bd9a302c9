import type { NeedState } from '../port.ts';
import type { TaskRecord } from './port.ts';

const needStateOf = (record: TaskRecord): NeedState => {
  switch (record.state) {
    case 'open':
    case 'claimed':
      return 'open';
    case 'parked':
      // What waits for a person will not land by itself: what builds on it says whom it waits for.
      return record.wake?.on === 'person' ? 'failed' : 'open';
    case 'delivered':
      return 'delivered';
    case 'landed':
    // Done elsewhere, by the word of its source.
    case 'vanished':
      return 'landed';
    case 'closed':
      return 'failed';
  }
};

/** What others that need these tasks are to be told (`StartView.needs`). Pure. Of two records of one key the one seen last counts. */
export const needStatesOf = (records: readonly TaskRecord[]): ReadonlyMap<string, NeedState> => {
  const states = new Map<string, NeedState>();
  for (const record of records.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt)) {
    for (const key of [...record.formerKeys, record.identity.key]) states.set(key, needStateOf(record));
  }
  return states;
};
