import { keys, text } from './schema-parts.ts';

/** Outside services, by name. */
export const connectKeys = keys(
  {
    github: keys(
      {
        api: text('an address', {
          description: 'Base address of the REST interface. Default: GITHUB_API_URL, else that of the host of origin.',
        }).optional(),
        repository: text('owner/name', { description: 'The repository there. Default: the one origin names.' })
          .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: 'owner/name' })
          .optional(),
      },
      'a map with api or repository',
      { description: 'GitHub, or a server with its REST interface.' },
    ).optional(),
  },
  'a map of services, such as github: { repository: owner/name }',
  { description: 'Outside services.' },
);
