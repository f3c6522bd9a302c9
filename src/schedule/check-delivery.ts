// Whether a webhook's request is who it says it is. Pure but for the hash.
//
// GitHub signs the body alone: `X-Hub-Signature-256: sha256=<HMAC-SHA-256 of the body>`
// (docs.github.com, "Validating webhook deliveries"). Delivery id and event name are not signed, so the signature itself is remembered
// too: the same body under another id is a replay. Others sign `<timestamp>.<delivery>.<event>.<body>` and so all four.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EpochMs } from '../core/ids.ts';
import { signatureAgeMs } from './limits.ts';

export interface Signed {
  readonly header: (name: string) => string | undefined;
  readonly body: Uint8Array;
}

export type CheckedDelivery =
  | {
      readonly ok: true;
      readonly sender: 'github' | 'generic';
      readonly id: string;
      /** Remembered against replay. */
      readonly replayIds: readonly string[];
      readonly event: string;
      readonly action: string | undefined;
    }
  /** `why` tells the sender nothing about the secret. */
  | { readonly ok: false; readonly status: 400 | 401; readonly why: string };

const name = /^[A-Za-z0-9_-]{1,128}$/;
const eventName = /^[A-Za-z0-9_.-]{0,100}$/;

const refused = (status: 400 | 401, why: string): CheckedDelivery => ({ ok: false, status, why });

const isSigned = (signature: string, secret: string, parts: readonly (string | Uint8Array)[]): boolean => {
  const hash = createHmac('sha256', secret);
  for (const part of parts) hash.update(part);
  const found = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1];
  return found !== undefined && timingSafeEqual(Buffer.from(found, 'hex'), hash.digest());
};

/** The payload's `action`, where the body is a JSON object with a short one. */
const actionOf = (body: Uint8Array): string | undefined => {
  try {
    const payload: unknown = JSON.parse(new TextDecoder().decode(body));
    const action = typeof payload === 'object' && payload !== null && 'action' in payload ? payload.action : undefined;
    return typeof action === 'string' && eventName.test(action) ? action : undefined;
  } catch {
    return undefined;
  }
};

export const isFromGithub = ({ header }: Signed): boolean =>
  header('x-github-event') !== undefined || header('x-hub-signature-256') !== undefined;

export const checkGithub = (request: Signed, secret: string): CheckedDelivery => {
  const { header, body } = request;
  const signature = header('x-hub-signature-256') ?? '';
  if (!isSigned(signature, secret, [body])) return refused(401, 'The header X-Hub-Signature-256 does not fit the body.');
  const id = header('x-github-delivery') ?? '';
  const event = header('x-github-event') ?? '';
  if (!name.test(id)) return refused(400, 'The header X-GitHub-Delivery is missing or not an id.');
  if (event === '' || !eventName.test(event)) return refused(400, 'The header X-GitHub-Event is missing or not a name.');
  return { ok: true, sender: 'github', id, replayIds: [id, signature], event, action: actionOf(body) };
};

export const checkGeneric = (request: Signed, secret: string, now: EpochMs): CheckedDelivery => {
  const { header, body } = request;
  const timestamp = header('x-gyre-timestamp') ?? '';
  const id = header('x-gyre-delivery') ?? '';
  const event = header('x-gyre-event') ?? '';
  if (!/^\d{1,12}$/.test(timestamp)) return refused(400, 'The header X-Gyre-Timestamp is missing or not a number of seconds.');
  if (!name.test(id)) return refused(400, 'The header X-Gyre-Delivery is missing or not an id.');
  if (!eventName.test(event)) return refused(400, 'The header X-Gyre-Event is not a name.');
  if (!isSigned(header('x-gyre-signature') ?? '', secret, [`${timestamp}.${id}.${event}.`, body]))
    return refused(401, 'The header X-Gyre-Signature does not fit the request.');
  if (Math.abs(now - Number(timestamp) * 1000) > signatureAgeMs)
    return refused(401, `The header X-Gyre-Timestamp is more than ${signatureAgeMs / 60_000} minutes from now.`);
  return { ok: true, sender: 'generic', id, replayIds: [id], event, action: undefined };
};
