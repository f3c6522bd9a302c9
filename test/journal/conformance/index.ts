// What every back end of the durable door must do, rule by rule (ENGINE.md section 6 and the port).
import { describe } from 'vitest';
import { blobsConformance } from './blobs.ts';
import { budgetsConformance } from './budgets.ts';
import { cancelConformance } from './cancel.ts';
import { childrenConformance } from './children.ts';
import { cleanupsConformance } from './cleanups.ts';
import { crashPoliciesConformance } from './crash-policies.ts';
import { historyLimitsConformance } from './history-limits.ts';
import type { MakeLab } from './lab.ts';
import { mapRaceConformance } from './map-race.ts';
import { ownershipConformance } from './ownership.ts';
import { pausesConformance } from './pauses.ts';
import { processesConformance } from './processes.ts';
import { registersConformance } from './registers.ts';
import { requestsConformance } from './requests.ts';
import { retriesConformance } from './retries.ts';
import { runsConformance } from './runs.ts';
import { signalsConformance } from './signals.ts';
import { slotsConformance } from './slots.ts';
import { stepsConformance } from './steps.ts';
import { streamsConformance } from './streams.ts';
import { timersConformance } from './timers.ts';
import { versionsConformance } from './versions.ts';

const parts = {
  steps: stepsConformance,
  runs: runsConformance,
  'crash policies': crashPoliciesConformance,
  processes: processesConformance,
  signals: signalsConformance,
  timers: timersConformance,
  children: childrenConformance,
  'map and race': mapRaceConformance,
  cancel: cancelConformance,
  pauses: pausesConformance,
  slots: slotsConformance,
  retries: retriesConformance,
  budgets: budgetsConformance,
  cleanups: cleanupsConformance,
  versions: versionsConformance,
  blobs: blobsConformance,
  ownership: ownershipConformance,
  registers: registersConformance,
  requests: requestsConformance,
  streams: streamsConformance,
  'history limits': historyLimitsConformance,
};

/** @param without parts that a back end cannot do, each with the reason at its call */
export const engineConformance = (name: string, makeLab: MakeLab, without: readonly (keyof typeof parts)[] = []): void => {
  describe(`conformance: ${name}`, () => {
    for (const [part, conformance] of Object.entries(parts)) {
      if (!without.some((missing) => missing === part)) describe(part, () => conformance(makeLab));
    }
  });
};
