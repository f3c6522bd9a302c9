// `server:` of gyre.yaml: where the daemon is reached, and how it ends.
import { choice, count, duration, keys, text } from './schema-parts.ts';

export const serverDefaults = { host: '127.0.0.1', port: 7399, drain: 'park', 'drain-time': '10m' } as const;

export const serverKeys = keys(
  {
    host: text('an address to listen on', { description: 'Where webhooks are received.', default: serverDefaults.host }, 255).optional(),
    port: count(0, 65_535, { description: 'Port of webhooks; 0 takes any free one.', default: serverDefaults.port }).optional(),
    drain: choice(['finish', 'checkpoint', 'park'], {
      description:
        'What happens to work in progress when the daemon is asked to end: finish it, leave agents for the next daemon, or end agents and keep their work.',
      default: serverDefaults.drain,
    }).optional(),
    'drain-time': duration({ description: 'Most time for drain: finish.', default: serverDefaults['drain-time'] }).optional(),
  },
  'a map with host, port, drain or drain-time',
  { description: 'The daemon: where it receives webhooks, how it ends.' },
);
