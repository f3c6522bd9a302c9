import { Fault } from '../../core/fault.ts';
import type { TaskTracker } from '../port.ts';
import { comments, noteOf, oneComment, userAnswer, type Comment } from './answers.ts';
import { isPassing, perPage, type Client } from './client.ts';

const tries = 3;
const pauseMs = 500;

export const notesOf = (client: Client, pause: (ms: number) => Promise<void>): TaskTracker => {
  const repository = `${client.address.owner}/${client.address.name}`;
  const issues = `/repos/${repository}/issues`;
  let account: Promise<string | undefined> | undefined;

  /** The login the token belongs to; `undefined` for the token of an app, which may not ask. */
  const ownLogin = (): Promise<string | undefined> =>
    (account ??= client.read('/user', userAnswer).then(
      ({ login }) => login,
      (error: unknown) => {
        if (error instanceof Fault && error.code === 'FORGE_REFUSED') return undefined;
        account = undefined;
        throw error;
      },
    ));

  /** Anybody can write the mark into a comment; only one of this account is edited. */
  const isOwn = async (comment: Comment): Promise<boolean> => {
    const login = await ownLogin();
    return login === undefined ? comment.user?.type === 'Bot' : comment.user?.login === login;
  };

  const findNote: TaskTracker['findNote'] = async (issue, mark) => {
    const marked: Comment[] = [];
    const { capped } = await client.readPages(`${issues}/${issue}/comments?per_page=${perPage}`, comments, (page) => {
      marked.push(...page.filter((comment) => comment.body?.startsWith(mark) === true));
      return 'more';
    });
    for (const comment of marked) if (await isOwn(comment)) return noteOf(comment);
    if (capped)
      throw new Fault('FORGE_ANSWER', `Issue ${issue} has more comments than are read, so whether its note is among them is not known.`, {
        hint: 'Take `notes` out of the loop, or write down the state by hand.',
      });
    return undefined;
  };

  const putOnce: TaskTracker['putNote'] = async (issue, { mark, text }) => {
    const found = await findNote(issue, mark);
    if (found?.text === text) return found;
    const request =
      found === undefined
        ? ({ method: 'POST', path: `${issues}/${issue}/comments`, body: { body: text } } as const)
        : ({ method: 'PATCH', path: `${issues}/comments/${found.id}`, body: { body: text } } as const);
    return noteOf(await client.write(request, oneComment));
  };

  return {
    repository,
    findNote,
    putNote: async (issue, note) => {
      for (let n = 1; ; n += 1) {
        try {
          return await putOnce(issue, note);
        } catch (error) {
          // Every further try looks again first: the write may have been done.
          if (!isPassing(error) || n >= tries) throw error;
          await pause(pauseMs * n);
        }
      }
    },
  };
};
