import type { z } from 'zod';
import { Fault } from '../../core/fault.ts';
import { oneLine } from '../../core/text.ts';
import type { ForgeAddress, ForgeTime } from '../port.ts';
import { refusal } from './answers.ts';
import { nextLink } from './link-header.ts';
import { limitedUntil } from './rate-limit.ts';

// Invariants:
// 1. The token is in the header of a request to the API's own origin and nowhere else: no message, no data of a fault, no other host.
// 2. Only reads are repeated here. A write whose end is unclear is for the caller to look for.
// 3. Every wait, answer and walk over pages has a bound.

/** For one request, its whole answer included. */
const requestMs = 20_000;
const answerBytes = 32 * 1024 * 1024;
const readTries = 3;
const firstPauseMs = 300;
export const perPage = 100;
/** Most pages of one list. */
const pagesMax = 200;

export interface Client {
  readonly address: ForgeAddress;
  /** @param path below the base address, with its query */
  read<T>(path: string, schema: z.ZodType<T>): Promise<T>;
  /** Gives every page of a list to `each` until it says that it has enough. @returns whether pages were left out because of their number */
  readPages<T>(
    path: string,
    schema: z.ZodType<T[]>,
    each: (entries: readonly T[]) => 'more' | 'enough',
  ): Promise<{ readonly capped: boolean }>;
  write<T>(request: { readonly method: 'POST' | 'PATCH'; readonly path: string; readonly body: unknown }, schema: z.ZodType<T>): Promise<T>;
}

/** The bounds of a client, which a test may narrow. */
export interface ClientLimits {
  readonly requestMs: number;
  readonly answerBytes: number;
  readonly pagesMax: number;
}

interface Answer {
  readonly response: Response;
  readonly text: string;
}

/** Reads a body up to a bound. @throws Fault `FORGE_ANSWER` beyond it */
const boundedText = async (response: Response, what: string, bytesMax: number): Promise<string> => {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Fault('FORGE_ANSWER', `The answer to ${what} is larger than ${bytesMax} bytes and was not read.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** What a refusal says, in one line. */
const saidIn = (text: string): string => {
  const answer = refusal.safeParse(parsed(text));
  if (!answer.success) return oneLine(text, 200);
  const more = (answer.data.errors ?? []).map((error) =>
    typeof error === 'string' ? error : (error.message ?? [error.field, error.code].filter(Boolean).join(' ')),
  );
  return oneLine([answer.data.message, ...more].join(': '), 300);
};

const hints: Readonly<Record<number, string>> = {
  401: 'Look at GITHUB_TOKEN (or GH_TOKEN): it is wrong or has ended.',
  403: 'The token may not do this: give it read access to issues and write access to pull requests and issues.',
  404: 'Look at the repository in gyre.yaml (connect.github.repository) or origin, and at what the token may see.',
};

export const createClient = (address: ForgeAddress, time: ForgeTime, narrowed: Partial<ClientLimits> = {}): Client => {
  const limits: ClientLimits = { requestMs, answerBytes, pagesMax, ...narrowed };
  const { origin } = new URL(address.api);
  const withoutToken = (text: string): string => text.replaceAll(address.token, '(token)');

  const send = async (what: string, url: string, init: RequestInit): Promise<Answer> => {
    try {
      const response = await fetch(url, {
        ...init,
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Bearer ${address.token}`,
          'content-type': 'application/json',
          'user-agent': 'gyre',
          'x-github-api-version': '2022-11-28',
        },
        signal: AbortSignal.timeout(limits.requestMs),
      });
      return { response, text: await boundedText(response, what, limits.answerBytes) };
    } catch (error) {
      if (error instanceof Fault) throw error;
      const late = error instanceof Error && error.name === 'TimeoutError';
      const cause =
        error instanceof Error && error.cause instanceof Error ? error.cause.message : error instanceof Error ? error.message : '';
      const why = late ? `did not answer within ${limits.requestMs / 1000} s` : `was not reached: ${oneLine(cause, 200)}`;
      throw new Fault('FORGE_UNREACHABLE', withoutToken(`${origin} ${why} (${what}).`), {
        hint: 'Look at the network and at the base address (connect.github.api, GITHUB_API_URL).',
      });
    }
  };

  const refuse = ({ response, text }: Answer, what: string): never => {
    const { status } = response;
    const message = withoutToken(saidIn(text));
    const resetAt = limitedUntil({ status, header: (name) => response.headers.get(name), message }, time.now());
    if (resetAt !== undefined)
      throw new Fault('FORGE_LIMITED', `${origin} takes no more requests until ${new Date(resetAt).toISOString()} (${what}: ${message}).`, {
        hint: 'The next tick after that time goes on.',
        data: { status, resetAt },
      });
    const code = status >= 500 ? 'FORGE_FAILED' : 'FORGE_REFUSED';
    const hint = hints[status];
    throw new Fault(code, `${origin} answered ${what} with ${status}: ${message || 'no message'}`, {
      ...(hint === undefined ? {} : { hint }),
      data: { status },
    });
  };

  const perform = async <T>(
    {
      method,
      url,
      body,
      redirect,
    }: { readonly method: string; readonly url: string; readonly body?: unknown; readonly redirect: 'follow' | 'manual' },
    schema: z.ZodType<T>,
  ): Promise<{ readonly value: T; readonly response: Response }> => {
    const what = `${method} ${url.startsWith(address.api) ? url.slice(address.api.length) : new URL(url).pathname}`;
    const answer = await send(what, url, { method, redirect, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    if (!answer.response.ok) refuse(answer, what);
    const value = schema.safeParse(parsed(answer.text));
    if (value.success) return { value: value.data, response: answer.response };
    const [issue] = value.error.issues;
    throw new Fault(
      'FORGE_ANSWER',
      `The answer of ${origin} to ${what} is not what is documented, at ${issue?.path.join('.') || 'its top'}: ${issue?.message ?? ''}`,
      { hint: 'Look at the base address: it may be that of a web page, or of another service.' },
    );
  };

  const readOnce = async <T>(url: string, schema: z.ZodType<T>): Promise<{ readonly value: T; readonly response: Response }> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await perform({ method: 'GET', url, redirect: 'follow' }, schema);
      } catch (error) {
        if (!isPassing(error) || tries >= readTries) throw error;
        await time.pause(firstPauseMs * 3 ** (tries - 1));
      }
    }
  };

  return {
    address,
    read: async (path, schema) => (await readOnce(`${address.api}${path}`, schema)).value,
    readPages: async <T>(path: string, schema: z.ZodType<T[]>, each: (entries: readonly T[]) => 'more' | 'enough') => {
      let url: string | undefined = `${address.api}${path}`;
      for (let page = 1; page <= limits.pagesMax && url !== undefined; page += 1) {
        const { value, response }: { readonly value: readonly T[]; readonly response: Response } = await readOnce(url, schema);
        if (each(value) === 'enough') return { capped: false };
        const next = nextLink(response.headers.get('link'));
        url = next === undefined ? undefined : new URL(next, url).href;
        // The token goes to the API's own origin only.
        if (url !== undefined && new URL(url).origin !== origin)
          throw new Fault('FORGE_ANSWER', `${origin} names ${new URL(url).origin} as the place of the next page, which is not asked.`);
      }
      return { capped: url !== undefined };
    },
    // A redirected POST would arrive as a GET.
    write: async ({ method, path, body }, schema) =>
      (await perform({ method, url: `${address.api}${path}`, body, redirect: 'manual' }, schema)).value,
  };
};

/** A fault after which the same request may well succeed; a write that ended so may have been done. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Fault && (error.code === 'FORGE_UNREACHABLE' || error.code === 'FORGE_FAILED');
