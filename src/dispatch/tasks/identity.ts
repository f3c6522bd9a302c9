import { createHash } from 'node:crypto';
import { normaliseFailure } from '../../core/fingerprint.ts';
import type { Task } from '../../core/task.ts';
import type { TaskIdentity } from './port.ts';

/** Letters of observed text that are compared: the head says what failed, the rest moves. */
const evidenceLetters = 2_000;

const hashOf = (text: string): string => createHash('sha256').update(text.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 16);

/** The names by which a failure text may call its own test: the whole id, and its last part (`file > suite > name`). */
const namesOf = (id: string): readonly string[] => [id, id.split(' > ').at(-1) ?? id].filter((name) => name.length >= 3);

const failureOf = (task: Task): string => {
  const { proof } = task;
  let text = task.evidence;
  if (proof.by === 'test') for (const name of namesOf(proof.test)) text = text.replaceAll(name, '<test>');
  const form = normaliseFailure(text).slice(0, evidenceLetters);
  return form === '' ? '' : hashOf(form);
};

/** By what this task will be recognised. Pure. */
export const identityOfTask = (task: Task): TaskIdentity => ({
  key: task.key,
  source: task.source,
  title: task.title,
  textHash: hashOf(`${task.title}\n${task.body}`),
  failureHash: failureOf(task),
  test: task.proof.by === 'test' ? { command: task.proof.command, id: task.proof.test, file: task.proof.file } : undefined,
  list: task.list?.file,
  claim: task.claim,
});

/** Name of a record: of the loop, the first key and the first sight, so that a key that is used again for other work is another task. */
export const taskIdOf = (loop: string, key: string, seenAt: number): string =>
  `t${createHash('sha256')
    .update(JSON.stringify([loop, key, seenAt]))
    .digest('hex')
    .slice(0, 15)}`;
