// `workspace:` of gyre.yaml: what loops share of it, and what the folders of all runs may take together.
import { workspaceShape } from './loop-schema.ts';
import { count, keys, size } from './schema-parts.ts';

/** Stops what leaks before the disk is full, and is out of the way of everything else. */
export const workspaceSettings = { disk: '50gb', warm: 0 } as const;

export const sharedWorkspaceKeys = keys(
  {
    ...workspaceShape,
    disk: size(
      {
        description: 'What workspaces, clean rooms and folders kept for later ones may take of the disk together.',
        default: workspaceSettings.disk,
      },
      '100000gb',
    ).optional(),
    warm: count(0, 4, {
      description:
        'Workspaces that the daemon fills in advance; above 0, folders of finished runs are used again. Has no effect below 10,000 files.',
      default: workspaceSettings.warm,
    }).optional(),
  },
  'a map with setup, setup-timeout, share, sandbox, disk or warm',
  { description: 'The folder of an attempt, and what all of them may take.' },
);
