import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { gyreBranches, runsOf } from '../field/support.ts';
import { makeScene } from '../testkit/scene.ts';
import { projects } from './projects.ts';

const agentProgram = fileURLToPath(new URL('./repairing-agent.mjs', import.meta.url));

describe.each(projects)('$runner', (project) => {
  const { first, second, old, flaky, missing } = project;

  test.skipIf(missing !== undefined)(
    // Some fifteen runs of the test command, each in a fresh checkout; cargo builds in every one.
    `RUN-01 both red tests are repaired and landed; the old failure and the flaky test stay${missing === undefined ? '' : ` (not run: ${missing})`}`,
    { timeout: 900_000 },
    async () => {
      await using scene = await makeScene({ files: project.files });
      Object.assign(scene.env, project.env);
      const repairs = path.join(scene.root, 'repairs.json');
      await writeFile(
        repairs,
        JSON.stringify([
          { ...first, attempt: 1 },
          { ...second, attempt: 2 },
        ]),
      );
      await scene.loop({
        discover: project.discover,
        verify: project.verify,
        ...(project.setup === undefined ? {} : { workspace: { setup: project.setup } }),
        agent: `'${process.execPath}' '${agentProgram}' '${repairs}'`,
        stop: { attempts: 2, 'no-progress': 5, 'same-failure': 5 },
      });

      const ran = await scene.gyre('run');
      const runs = await runsOf(scene);
      const found = runs.map((run) => {
        const name =
          [first.about, second.about].find((about) => run.title.includes(about)) ?? (run.title.includes(old) ? 'old' : run.title);
        return `${name}: ${run.exit?.exit} after ${run.attempts}`;
      });
      expect(found.toSorted(), ran.all).toEqual(
        [`${first.about}: goal-met after 1`, `${second.about}: goal-met after 2`, 'old: stopped after 2'].toSorted(),
      );
      expect(ran.code, ran.all).toBe(4);
      expect(gyreBranches(scene)).toHaveLength(2);

      // The flaky test is nobody's task, and it is said so.
      expect(ran.all).toContain('Flaky: red 1 of 2 runs');
      expect(ran.all).toContain(flaky);

      for (const run of runs.filter(({ exit }) => exit?.exit === 'goal-met')) {
        const shown = (await scene.gyre('show', run.run)).stdout;
        expect(shown).toMatch(/note +Old failure/);
        expect(shown).toContain(old);
      }
    },
  );
});
