import path from 'node:path';

// Which files of a repository decide what a set-up command puts into its dependency folders. Pure.

const locks =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|requirements[^/]*\.txt|Cargo\.lock|go\.sum|Gemfile\.lock|composer\.lock|mix\.lock|packages\.lock\.json|gradle\.lockfile|flake\.lock)$/;

const manifests =
  /^(?:package\.json|pnpm-workspace\.yaml|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js|bunfig\.toml|deno\.jsonc?|pyproject\.toml|setup\.(?:py|cfg)|Pipfile|constraints[^/]*\.txt|pip\.conf|uv\.toml|Cargo\.toml|go\.(?:mod|work)|Gemfile|[^/]*\.gemspec|composer\.json|mix\.exs|\.nvmrc|\.node-version|\.python-version|\.ruby-version|\.tool-versions|\.?mise\.toml|rust-toolchain(?:\.toml)?)$/;

/** Folders whose files change packages while they are installed. */
const changers = /(?:^|\/)(?:patches|\.yarn|\.cargo)\//;

export const isLockFile = (file: string): boolean => locks.test(path.posix.basename(file));

/** Lock files, package manifests, versions of tools, patches of packages. */
export const isDependencyFile = (file: string): boolean =>
  isLockFile(file) || manifests.test(path.posix.basename(file)) || changers.test(file);

/** Files of the repository that a command line names, such as `scripts/setup.sh`. */
export const filesNamed = (command: string, prefix: string, tracked: ReadonlySet<string>): readonly string[] =>
  command
    .split(/[\s'"`;&|<>()=]+/)
    .filter((word) => word !== '')
    .map((word) => path.posix.join(prefix, word))
    .filter((file) => tracked.has(file));

/** Variables that decide what package managers do. Temporary folders, logins and CI do not. */
const deciding =
  /^(?:PATH|NODE_ENV|NODE_OPTIONS|VIRTUAL_ENV|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|RUSTFLAGS|GO[A-Z]+|(?:npm|yarn|pnpm|bun|deno|pip|uv|poetry|python|cargo|rustup|bundle|gem|composer|mix|node)_.+)$/i;

export const decidingVariables = (env: Readonly<Record<string, string>>): readonly (readonly [string, string])[] =>
  Object.entries(env)
    .filter(([name]) => deciding.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
