// The parts of the loop over the simulated world: everything but the engine.
import { newRunId } from '../src/core/ids.ts';
import type { LoopParts } from '../src/loop/index.ts';
import type { ProcessHost } from '../src/process/index.ts';
import type { Chance } from './chance.ts';
import { fakeAgent } from './fake-agent.ts';
import { fakeDiscoverer } from './fake-discoverer.ts';
import { fakeEvidence } from './fake-evidence.ts';
import { fakeLander } from './fake-lander.ts';
import { fakeVerifier, orderedProcess } from './fake-verifier.ts';
import { candidateOf, fakeWorkspaces } from './fake-workspaces.ts';
import type { Machine } from './machine.ts';
import type { Stage } from './stage.ts';
import type { World } from './world.ts';

export type WorldParts = Omit<LoopParts, 'engine' | 'reader'>;

const checkout = { head: '', index: '', config: '', stash: '', status: '' };

export const fakeParts = (ground: {
  readonly stage: Stage;
  readonly world: World;
  readonly machine: Machine;
  readonly processes: ProcessHost;
  readonly chance: Chance;
}): WorldParts => {
  const { stage, world, machine, processes, chance } = ground;
  const evidence = fakeEvidence(stage, world);
  const agent = fakeAgent();
  return {
    evidence,
    workspaces: fakeWorkspaces(stage, world, () => chance.happens(0.03)),
    verifier: fakeVerifier(stage, world, evidence),
    lander: fakeLander(stage, world),
    discoverer: fakeDiscoverer(stage, world),
    agentFor: () => agent,
    promptFor: ({ task, attempt }) => `${task.title}, attempt ${attempt}`,
    resolveBase: () => stage.look(() => world.head().sha),
    readFile: () => stage.look(() => undefined),
    fingerprint: () => stage.look(() => checkout),
    differences: () => [],
    gitSetup: () => stage.look(() => ({})),
    gitSetupChanges: () => [],
    setupSpec: ({ command, marker }) => orderedProcess(command, null, marker),
    sweep: (marker) => processes.sweep(marker),
    readFileBytes: (file) => stage.look(() => machine.files.get(file) ?? Buffer.alloc(0)),
    clock: stage.clock.wall,
    chance: chance.next,
    candidateOf: (commit, base) => stage.look(() => candidateOf(world.commit(commit), base)),
    notes: () => Promise.reject(new Error('The simulated loops write no notes.')),
    newRunId: () => newRunId(stage.clock.wall(), Math.floor(chance.next() * 2 ** 40)),
  };
};
