// A check runs in a new folder every time, so nothing that names the folder may stay in an id.

const isAbsolute = (file: string): boolean => file.startsWith('/') || /^[A-Za-z]:\//.test(file);

const withoutScheme = (file: string): string => {
  if (!file.startsWith('file://')) return file;
  const bare = file.slice('file://'.length);
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
};

/**
 * A file name as ids carry it: `/` between folders, relative to `cwd`. An absolute path outside `cwd` keeps its last name alone,
 * because the folders before it differ between machines and runs.
 */
export const relativeFile = (file: string, cwd: string | undefined): string => {
  const plain = withoutScheme(file.trim()).replaceAll('\\', '/');
  const folder = cwd?.replaceAll('\\', '/').replace(/\/$/, '');
  if (folder !== undefined && plain.startsWith(`${folder}/`)) return plain.slice(folder.length + 1);
  if (isAbsolute(plain)) return plain.slice(plain.lastIndexOf('/') + 1);
  return plain.startsWith('./') ? plain.slice(2) : plain;
};

/** Takes the folder of the run out of any text: `<cwd>/src/a.js` becomes `src/a.js`. */
export const withoutFolder = (text: string, cwd: string | undefined): string => {
  const folder = cwd?.replace(/[/\\]$/, '');
  if (folder === undefined || folder === '') return text;
  return text
    .replaceAll(`file://${encodeURI(folder)}/`, '')
    .replaceAll(`file://${folder}/`, '')
    .replaceAll(`${folder}/`, '');
};

const sourceFile = /\.(?:[cm]?[jt]sx?|py|rs|go|rb|php|java|kt|sh|bats|t)$/;

/** Whether a title is the name of a source file rather than a sentence: no blanks, unless it is a path. */
export const looksLikeFile = (title: string): boolean =>
  title.length <= 4_096 && sourceFile.test(title) && (!/\s/.test(title) || title.startsWith('/') || /[._-]test\.\w+$/.test(title));
