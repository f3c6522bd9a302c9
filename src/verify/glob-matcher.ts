import picomatch from 'picomatch';

// `s`: a file name may hold a line break, and a `.` that stops there would let such a name slip through a rule.
const options = { dot: true, nocase: false, windows: false, flags: 's' } as const;

/** `docs/`, `./docs` and `docs` mean the folder and all in it, as in `.gitignore`. */
const forms = (glob: string): readonly string[] => {
  const plain = glob.replace(/^(?:\.?\/)+/, '').replace(/\/+$/, '');
  return [plain, `${plain}/**`];
};

const isException = (glob: string): boolean => glob.startsWith('!') && !glob.startsWith('!(');

const matchAny = (globs: readonly string[]): ((file: string) => boolean) => {
  const wanted = globs.flatMap((glob) => forms(glob)).filter((glob) => glob !== '' && glob !== '/**');
  return wanted.length === 0 ? () => false : picomatch(wanted, options);
};

/**
 * Tells whether a path matches one of the globs. `!glob` takes away from what the others match.
 * @param globs relative to the repository root, `/`-separated, case-sensitive; names that begin with a dot match too
 */
export const matcher = (globs: readonly string[]): ((file: string) => boolean) => {
  const matches = matchAny(globs.filter((glob) => !isException(glob)));
  const excepted = matchAny(globs.filter((glob) => isException(glob)).map((glob) => glob.slice(1)));
  return (file) => matches(file) && !excepted(file);
};
