import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { EpochMs } from '../core/ids.ts';
import type { EventTrigger } from '../core/trigger.ts';
import { checkGeneric, checkGithub, isFromGithub, type CheckedDelivery, type Signed } from './check-delivery.ts';
import type { Delivery } from './event-lane.ts';
import { bodyBytes } from './limits.ts';

export type WebhookTrigger = Extract<EventTrigger, { readonly on: 'webhook' }>;

/** A webhook trigger of a loop, and where its deliveries go. */
export interface Hook {
  readonly trigger: WebhookTrigger;
  readonly secret: string;
  /** `true` once on disk, `false` for a duplicate, `undefined` when there is no room now. */
  readonly deliver: (delivery: Delivery) => Promise<boolean | undefined>;
}

export interface WebhookAppOptions {
  /** Webhooks of a loop by its name; empty for a loop without, or unknown. */
  readonly hooksOf: (loop: string) => readonly Hook[];
  readonly clock: () => EpochMs;
}

type Accepted = Extract<CheckedDelivery, { readonly ok: true }>;

const isAwaited = (trigger: WebhookTrigger, { event, action }: Accepted): boolean =>
  (trigger.event === undefined || trigger.event === event) && (trigger.action === undefined || trigger.action === action);

/** The hook whose secret fits; the refusal of the last one otherwise. */
const checkedBy = (hooks: readonly Hook[], request: Signed, now: EpochMs): CheckedDelivery & { readonly secret?: string } => {
  let checked: CheckedDelivery = { ok: false, status: 401, why: 'The loop has no webhook of this kind of sender.' };
  const sender = isFromGithub(request) ? 'github' : 'generic';
  for (const { trigger, secret } of hooks) {
    if (trigger.sender !== sender) continue;
    checked = sender === 'github' ? checkGithub(request, secret) : checkGeneric(request, secret, now);
    if (checked.ok) return { ...checked, secret };
  }
  return checked;
};

/**
 * `POST /hooks/<loop>`: 202 taken in, or signed and not awaited; 400 bad headers; 401 bad signature or time; 404 no such hook; 409 taken in
 * before; 413 body too large; 503 too much waits. Answers are JSON: `{ accepted, why? }`. Nothing of the body is kept but its action.
 */
export const webhookApp = ({ hooksOf, clock }: WebhookAppOptions): Hono => {
  const app = new Hono();
  app.notFound((context) =>
    context.json({ accepted: false, why: 'There is nothing here. Webhooks are sent with POST to /hooks/<loop>.' }, 404),
  );
  app.onError((_error, context) => context.json({ accepted: false, why: 'The delivery could not be taken in. Send it again.' }, 503));
  app.post(
    '/hooks/:loop',
    bodyLimit({
      maxSize: bodyBytes,
      onError: (context) => context.json({ accepted: false, why: `A body is at most ${bodyBytes} bytes.` }, 413),
    }),
    async (context) => {
      const hooks = hooksOf(context.req.param('loop'));
      if (hooks.length === 0) return context.json({ accepted: false, why: 'No loop of this name has a webhook.' }, 404);
      const body = new Uint8Array(await context.req.arrayBuffer());
      const checked = checkedBy(hooks, { header: (header) => context.req.header(header), body }, clock());
      if (!checked.ok) return context.json({ accepted: false, why: checked.why }, checked.status);
      const awaiting = hooks.filter(
        ({ trigger, secret }) => trigger.sender === checked.sender && secret === checked.secret && isAwaited(trigger, checked),
      );
      if (awaiting.length === 0)
        return context.json(
          {
            accepted: false,
            why: `The loop does not wait for ${checked.event}${checked.action === undefined ? '' : `.${checked.action}`}`,
          },
          202,
        );
      const { id, replayIds, event, action } = checked;
      const cause = { event, delivery: id, ...(action === undefined ? {} : { action }) };
      const taken: (boolean | undefined)[] = [];
      for (const hook of awaiting) taken.push(await hook.deliver({ ids: replayIds, cause }));
      if (taken.includes(undefined)) return context.json({ accepted: false, why: 'Too many deliveries wait. Send it again later.' }, 503);
      return taken.includes(true)
        ? context.json({ accepted: true }, 202)
        : context.json({ accepted: false, why: `The delivery ${id} was taken in before.` }, 409);
    },
  );
  return app;
};
