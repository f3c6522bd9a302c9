import { rejectIf } from './resolve-loop.ts';
import { parseDuration } from './duration.ts';
import { freeMemoryDefault, runsDefault } from './limits-schema.ts';
import { readShared } from './load-loop-text.ts';
import type { SourceText } from './port.ts';
import { serverDefaults } from './server-schema.ts';
import { parseSize } from './size.ts';
import { workspaceSettings } from './workspace-schema.ts';

/** What gyre.yaml says about the engine as a whole, every key resolved. */
export interface Settings {
  readonly limits: {
    readonly runs: number;
    readonly agents: Readonly<Record<string, number>>;
    readonly providers: Readonly<Record<string, number>>;
    readonly shares: Readonly<Record<string, number>>;
    readonly gapMs: number;
    readonly startsPerMinute: number | undefined;
    readonly loadPerCpu: number | undefined;
    readonly freeMemoryBytes: number;
  };
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly drain: 'finish' | 'checkpoint' | 'park';
    readonly drainMs: number;
  };
  readonly workspace: {
    /** For everything that is kept of checkouts, together. */
    readonly diskBytes: number;
    /** Workspaces filled in advance. */
    readonly warm: number;
  };
  readonly connect: { readonly github: { readonly api: string | undefined; readonly repository: string | undefined } };
}

/**
 * The settings of gyre.yaml.
 * @param shared its text; `undefined` where there is none
 * @throws Rejection with every issue of the file
 */
export const settingsOf = (shared: SourceText | undefined): Settings => {
  const layer = shared === undefined ? undefined : readShared(shared);
  if (shared !== undefined) rejectIf(shared.file, layer?.issues ?? []);
  const { limits = {}, server = {}, workspace = {}, connect = {} } = layer?.input ?? {};
  return {
    limits: {
      runs: limits.runs ?? runsDefault,
      agents: limits.agents ?? {},
      providers: limits.providers ?? {},
      shares: limits.shares ?? {},
      gapMs: parseDuration(limits.gap ?? '') ?? 0,
      startsPerMinute: limits['starts-per-minute'],
      loadPerCpu: limits.load,
      freeMemoryBytes: parseSize(limits['free-memory'] ?? freeMemoryDefault) ?? 0,
    },
    server: {
      host: server.host ?? serverDefaults.host,
      port: server.port ?? serverDefaults.port,
      drain: server.drain ?? serverDefaults.drain,
      drainMs: parseDuration(server['drain-time'] ?? serverDefaults['drain-time']) ?? 0,
    },
    workspace: { diskBytes: parseSize(workspace.disk ?? workspaceSettings.disk) ?? 0, warm: workspace.warm ?? workspaceSettings.warm },
    connect: { github: { api: connect.github?.api, repository: connect.github?.repository } },
  };
};
