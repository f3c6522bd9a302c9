import type { AddressInfo } from 'node:net';
import { Fault } from '../core/fault.ts';
import type { Hook } from './webhook-app.ts';
import type { EpochMs } from '../core/ids.ts';

/** A slow sender holds a connection no longer than this. */
const requestMs = 15_000;
const connectionsCount = 100;

export interface WebhookServer {
  readonly address: { readonly host: string; readonly port: number };
  close(): Promise<void>;
}

export interface WebhookServerOptions {
  readonly host: string;
  readonly port: number;
  readonly hooksOf: (loop: string) => readonly Hook[];
  readonly clock: () => EpochMs;
}

/**
 * Opens the port. The HTTP packages are loaded here, so that a program without webhooks never does.
 * @throws Fault PORT_TAKEN, SERVER_NOT_STARTED
 */
export const openWebhookServer = async ({ host, port, hooksOf, clock }: WebhookServerOptions): Promise<WebhookServer> => {
  const [{ createAdaptorServer }, { webhookApp }] = await Promise.all([import('@hono/node-server'), import('./webhook-app.ts')]);
  const server = createAdaptorServer({
    fetch: webhookApp({ hooksOf, clock }).fetch,
    serverOptions: { requestTimeout: requestMs, headersTimeout: requestMs, connectionsCheckingInterval: requestMs / 5 },
  });
  server.maxConnections = connectionsCount;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Fault('PORT_TAKEN', `Port ${port} of ${host} is taken by another program.`, {
              hint: 'End that program, or set another port in gyre.yaml: server: { port: ... }.',
              data: { host, port },
              cause: error,
            })
          : new Fault('SERVER_NOT_STARTED', `Port ${port} of ${host} could not be opened: ${error.message}.`, {
              hint: 'Set another host or port in gyre.yaml: server: { host: ..., port: ... }.',
              data: { host, port },
              cause: error,
            }),
      );
    });
    server.listen(port, host, resolve);
  });
  const { address, port: opened } = server.address() as AddressInfo;
  return {
    address: { host: address, port: opened },
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
};
