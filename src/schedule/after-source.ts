import { epochMs } from '../core/ids.ts';
import { waitingPollMs } from './limits.ts';
import type { Ticks } from './port.ts';
import { noHints, type Source } from './source.ts';

/** Looked at again after a clock was set back; a tick seen before is known by its id. */
const setBackMs = 600_000;

/** Ticks of another loop that ended with one of the exits. `seen.since`: end of the last one; `seen.ids`: the ones that ended just then. */
export const afterSource = ({
  ticks,
  loop,
  exits,
}: {
  readonly ticks: Ticks;
  readonly loop: string;
  readonly exits: readonly string[];
}): Source => ({
  parts: 'unique',
  pollMs: waitingPollMs,
  look: (seen, now) => {
    if (seen === undefined) return Promise.resolve({ events: [], seen: { since: String(now), ids: '[]' } });
    const since = epochMs(Number(seen['since']));
    const known = new Set(JSON.parse(seen['ids'] ?? '[]') as readonly string[]);
    const isSetBack = since > now;
    const ended = ticks.ended(loop, epochMs(isSetBack ? now - setBackMs : since)).filter(({ id }) => !known.has(id));
    const last = ended.at(-1)?.endedAt ?? (isSetBack ? now : since);
    const atLast = ended.filter(({ endedAt }) => endedAt === last).map(({ id }) => id);
    return Promise.resolve({
      events: ended
        .filter(({ exit }) => exits.length === 0 || exits.includes(exit))
        .map(({ id, exit }) => ({ part: id, cause: { loop, tick: id, exit } })),
      seen: { since: String(last), ids: JSON.stringify(last === since ? [...known, ...atLast] : atLast) },
    });
  },
  hint: () => noHints,
});
