import type { Landed } from '../land/index.ts';

/** Where a change is now, in words. */
export const landedText = (landed: Landed): string => {
  switch (landed.landed) {
    case 'branch':
      return `branch ${landed.branch} at ${landed.commit.slice(0, 12)}`;
    case 'pull-request':
      return `pull request #${landed.number} ${landed.url} from branch ${landed.branch} at ${landed.commit.slice(0, 12)}`;
    case 'merge':
      return `landed on ${landed.target} at ${landed.commit.slice(0, 12)}`;
    case 'patch':
      return `patch ${landed.file}`;
    case 'report':
      return `report only: the verified change is commit ${landed.commit.slice(0, 12)}`;
    case 'no':
      return `not landed: ${landed.why}; the work is kept as ${landed.ref}`;
  }
};
