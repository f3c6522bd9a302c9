import { taskKey } from '../src/core/ids.ts';
import { rankTasks, type Task } from '../src/core/task.ts';
import type { Discoverer } from '../src/discover/index.ts';
import { orderedProcess } from './fake-verifier.ts';
import type { SimTask } from './scenario.ts';
import type { Stage } from './stage.ts';
import type { World } from './world.ts';

const taskOf = ({ name, priority, needs }: SimTask): Task => ({
  key: taskKey(name),
  title: `Do ${name}`,
  body: '',
  evidence: '',
  priority,
  touches: [],
  trust: 'repository',
  source: 'simulated',
  proof: { by: 'checks' },
  needs: needs.map(taskKey),
});

/** Lists what the world has open, with a process where the loop's agent is a command. */
export const fakeDiscoverer = (stage: Stage, world: World): Discoverer => ({
  discover: async ({ loop, base, run }) => {
    if (loop.agent.use === 'command') {
      const { end } = await run('list', orderedProcess('list-tasks', null, loop.name));
      if (end !== 'exited') return { tasks: [], setAside: [], problems: [`The list ended: ${end}.`], unread: ['simulated'] };
    }
    const open = await stage.effect(`discover ${loop.name}`, () =>
      world.openTasks(loop.name, { commit: world.commit(base), uptimeMs: stage.clock.uptimeMs() }),
    );
    return { tasks: rankTasks(open.map(taskOf)), setAside: [], problems: [], unread: [] };
  },
  stillOpen: ({ base, task }) =>
    stage.look(() => (world.commit(base).done.has(task.key) ? { open: false, why: 'it is done on the target' } : { open: true })),
});
