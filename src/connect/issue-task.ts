import { taskKey, type TaskKey } from '../core/ids.ts';

export interface IssueName {
  /** `owner/name`. */
  readonly repository: string;
  readonly number: number;
}

const keyForm = /^issue:([^/#\s]+\/[^/#\s]+)#([1-9]\d{0,14})$/;

/** Key of the task that an issue is: `issue:<owner>/<name>#<number>`, the same in every clone. Case does not tell repositories apart. */
export const issueTaskKey = ({ repository, number }: IssueName): TaskKey => taskKey(`issue:${repository.toLowerCase()}#${number}`);

/** The claim to the same issue among all machines: `github:<owner>/<name>#<number>`. */
export const issueClaim = ({ repository, number }: IssueName): string => `github:${repository.toLowerCase()}#${number}`;

/** The issue a task is; `undefined` for a task that is none. */
export const issueOfTask = (key: string): IssueName | undefined => {
  const [, repository, number] = keyForm.exec(key) ?? [];
  return repository === undefined ? undefined : { repository, number: Number(number) };
};
