// `gyre.yaml` at the repository root: what loops share.

import { z } from 'zod';
import { agentKeys } from './agent-schema.ts';
import { connectKeys } from './connect-schema.ts';
import { limitsKeys } from './limits-schema.ts';
import { sharedShape } from './loop-schema.ts';
import { budget, choice, keys } from './schema-parts.ts';
import { serverKeys } from './server-schema.ts';
import { sharedWorkspaceKeys } from './workspace-schema.ts';

const named = <Value extends z.ZodType>(value: Value, wanted: string, description: string) =>
  z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'a name of letters, digits, dots and dashes' }), value, {
      error: wanted,
    })
    .meta({ description });

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'a text, a number, true or false' });

export const gyreShape = {
  agents: named(agentKeys, 'a map of named agents', 'Agents by name; a loop says agent: <name>.').optional(),
  ...sharedShape,
  workspace: sharedWorkspaceKeys.optional(),
  limits: limitsKeys.optional(),
  server: serverKeys.optional(),
  connect: connectKeys.optional(),
  budgets: keys(
    {
      day: budget({ description: 'For all loops of a day.' }).optional(),
      week: budget({ description: 'For all loops of a week.' }).optional(),
      month: budget({ description: 'For all loops of a month.' }).optional(),
    },
    'a map with day, week or month',
    { description: 'Limits over all loops. No effect in this version: stop.budget limits each task.' },
  ).optional(),
  channels: named(
    z.union([scalar, named(scalar, 'a map', 'Settings of the channel.')], { error: 'an address, or a map' }),
    'a map of named channels',
    'Where notices go. No effect in this version.',
  ).optional(),
  sandbox: choice(['none', 'read-only', 'workspace-write'], {
    description: 'Sandbox of all loops. Only none has an effect in this version.',
  }).optional(),
};

export const gyreSchema = z.strictObject(gyreShape).meta({ title: 'gyre.yaml', description: 'What the loops of a repository share' });

export type GyreInput = z.infer<typeof gyreSchema>;
