import type { CommitSha } from '../src/core/ids.ts';
import type { LandRequest, Landed, Lander } from '../src/land/index.ts';
import type { Stage } from './stage.ts';
import type { Landing, World } from './world.ts';

const landedAs = ({ as, run, commit }: Landing): Landed => {
  switch (as) {
    case 'merge':
      return { landed: 'merge', target: 'main', commit };
    case 'branch':
      return { landed: 'branch', branch: `gyre/${run}`, commit };
    case 'patch':
      return { landed: 'patch', file: `/patches/${run}`, commit };
    case 'report':
      return { landed: 'report', commit };
    case 'pull-request':
      return { landed: 'pull-request', number: 1, url: `https://example.invalid/${run}`, branch: `gyre/${run}`, commit };
  }
};

/** Lands without looking whether it has landed before: that is what `find` is for, and the engine's to ask. */
export const fakeLander = (stage: Stage, world: World): Lander => {
  const put = (request: LandRequest, commit: CommitSha, isStill: () => boolean): Promise<Landed | undefined> =>
    stage.effect(`land ${request.run}`, () => {
      if (!isStill()) return undefined;
      const { run, taskKey, as } = request;
      const landing: Landing = { run, task: taskKey, as, commit };
      world.land(landing);
      if (as === 'merge') world.push(world.commit(commit));
      stage.trace.say(`landed ${run} ${taskKey} as ${as}`);
      return landedAs(landing);
    });

  const merge = async (request: LandRequest): Promise<Landed> => {
    for (;;) {
      const head = await stage.look(() => world.head());
      const candidate = world.commit(request.candidate);
      if (head.sha !== request.base) {
        const combined = world.combine(candidate, head);
        const { pass, why } = await request.verifyCombined(combined.sha, head.sha);
        if (!pass) return { landed: 'no', why: why === '' ? 'The combined change is not green.' : why, ref: `refs/gyre/${request.run}` };
        const landed = await put(request, combined.sha, () => world.head().sha === head.sha);
        if (landed !== undefined) return landed;
        continue;
      }
      const landed = await put(request, candidate.sha, () => world.head().sha === head.sha);
      if (landed !== undefined) return landed;
    }
  };

  return {
    land: async (request) => {
      await stage.pause(3_000);
      if (request.as === 'merge') return merge(request);
      return (await put(request, request.candidate, () => true)) ?? merge(request);
    },
    find: ({ run }) =>
      stage.look(() => {
        const landing = world.landings.find((one) => one.run === run);
        return landing === undefined ? undefined : landedAs(landing);
      }),
    fate: (landed) =>
      stage.look(() => {
        if (landed.landed === 'no') return 'gone';
        return world.isOnTarget(landed.commit) ? 'on-target' : 'waiting';
      }),
  };
};
