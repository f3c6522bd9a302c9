// What a check may see of the environment Gyre was started in (VER-09). An allow-list: a variable nobody thought of does not get in.
//
// Not on it, on purpose: everything of git (GIT_DIR would make the check test another repository), Gyre's own variables and its home
// (XDG_STATE_HOME), NODE_OPTIONS and NODE_TEST_CONTEXT (they change what `node --test` does), npm_*, and every token.

const exact: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  // Where tool chains live.
  'JAVA_HOME',
  'GRADLE_USER_HOME',
  'MAVEN_HOME',
  'M2_HOME',
  'ANDROID_HOME',
  'ANDROID_SDK_ROOT',
  'GOPATH',
  'GOROOT',
  'GOCACHE',
  'GOMODCACHE',
  'GOFLAGS',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'PYENV_ROOT',
  'VIRTUAL_ENV',
  'CONDA_PREFIX',
  'NVM_DIR',
  'FNM_DIR',
  'VOLTA_HOME',
  'PNPM_HOME',
  'BUN_INSTALL',
  'DENO_DIR',
  'RBENV_ROOT',
  'GEM_HOME',
  'GEM_PATH',
  'ASDF_DIR',
  'ASDF_DATA_DIR',
  'MISE_DATA_DIR',
  'DOTNET_ROOT',
  'COMPOSER_HOME',
  'NIX_PATH',
  // Certificates, without which a set-up behind a company's proxy cannot fetch.
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
]);

const proxies: ReadonlySet<string> = new Set(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'FTP_PROXY']);

const isAllowed = (name: string, value: string): boolean => {
  if (exact.has(name) || /^LC_[A-Z]+$/.test(name)) return true;
  // A proxy address may carry a password, and a check runs code that nobody has read.
  return proxies.has(name.toUpperCase()) && !value.includes('@');
};

/** `npx gyre` puts the `node_modules/.bin` of the user's checkout first on PATH; with it a check would test with tools of another tree. */
const withoutPackageBins = (searchPath: string): string =>
  searchPath
    .split(':')
    .filter((entry) => !/\/node_modules\/\.bin\/?$|\/node-gyp-bin\/?$/.test(entry))
    .join(':');

/**
 * The environment of a check: allowed variables of the engine's, fixed ones, then the check's own, which win.
 *
 * `CI=true` is always set: test runners then neither watch nor write missing snapshots, and a snapshot written while checking would be a
 * check that grades itself. `TERM=dumb` keeps colour codes out of reports.
 * @param env the engine's environment
 * @param extra the check's own variables
 */
export const checkEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  const allowed = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || !isAllowed(name, value)) return [];
    return [[name, name === 'PATH' ? withoutPackageBins(value) : value]];
  });
  return { ...Object.fromEntries(allowed), TERM: 'dumb', CI: 'true', ...extra };
};
