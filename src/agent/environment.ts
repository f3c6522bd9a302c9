/** An environment as the caller read it, e.g. `process.env`. */
export type EnvironmentRecord = Readonly<Record<string, string | undefined>>;

// What any program needs to run, to reach the network the way the machine does, and to find its own files. Everything else stays out:
// tokens of other services, GIT_* (an inherited GIT_DIR sends an agent's commits into the user's repository), NODE_OPTIONS and npm_*
// (they change what an agent's own tools do), and NODE_TEST_CONTEXT (it makes `node --test` run as a part of another test run).
const everyone: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'TZ',
  'TMPDIR',
  'XDG_*',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
];

const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/**
 * The complete environment of an agent: only allowed names of `env`, and a terminal that cannot do anything.
 * @param names further allowed names; a trailing `*` allows every name that begins so; a leading `!` takes a name out again
 */
export const agentEnvironment = (env: EnvironmentRecord, names: readonly string[]): Record<string, string> => {
  const allowed = [...everyone, ...names.filter((name) => !name.startsWith('!'))];
  const refused = names.filter((name) => name.startsWith('!')).map((name) => name.slice(1));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || refused.some((pattern) => matches(name, pattern))) continue;
    if (allowed.some((pattern) => matches(name, pattern))) kept[name] = value;
  }
  kept['TERM'] = 'dumb';
  return kept;
};
