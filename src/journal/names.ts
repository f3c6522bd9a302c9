import { createHash } from 'node:crypto';
import { Defect } from '../core/fault.ts';
import { slug } from '../core/text.ts';

const nameLettersMax = 512;

/** Keys, run ids and dedupe keys: printable, not empty, at most 512 letters; what SQLite would give back changed is refused. */
export const assertName = (what: string, name: string): void => {
  // oxlint-disable-next-line no-control-regex
  if (name.length === 0 || name.length > nameLettersMax || !name.isWellFormed() || /[\u0000-\u001F\u007F]/.test(name)) {
    throw new Defect(`${what} ${JSON.stringify(name.slice(0, 80))} is not a name of 1 to ${nameLettersMax} printable letters.`);
  }
};

/** Kinds that the engine writes itself; a domain fact may not look like one. */
const engineKinds = new Set([
  'run.started',
  'run.resumed',
  'run.reopened',
  'run.cancel-requested',
  'run.ended',
  'run.paused',
  'run.parked',
  'run.released',
  'run.continued',
  'run.history-long',
  'step.intended',
  'step.completed',
  'step.failed',
  'step.retried',
  'step.decided',
  'signal.refused',
  'budget.charged',
  'owner.taken',
  'owner.released',
  'run.purged',
  'register.changed',
  'signal.taken',
  'disk.filled',
  'facts.unreadable',
]);

export const assertDomainKind = (kind: string): void => {
  if (!/^[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+$/.test(kind) || kind.length > 100) {
    throw new Defect(`The kind of fact ${JSON.stringify(kind.slice(0, 80))} does not read noun.past-participle.`);
  }
  if (engineKinds.has(kind)) throw new Defect(`The kind of fact ${kind} is the engine's own.`);
};

/** A folder name for a key: the key itself where it is plain, else its slug and eight digits of its hash (`~` occurs in no slug). */
const safeName = (name: string): string =>
  name === slug(name) ? name : `${slug(name, 40)}~${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;

/** The folder below `jobs/` that holds the processes of one run. */
export const runJobsFolder = (run: string): string => safeName(run);

/**
 * The job folder of a process, relative to the state home, with `/`.
 * @param performance counts from 1 how often the process was started; a process that was cancelled is started again in a new folder
 */
export const jobDirOf = (place: { readonly run: string; readonly key: string; readonly performance: number }): string =>
  `jobs/${runJobsFolder(place.run)}/${safeName(place.key)}.${place.performance}`;
