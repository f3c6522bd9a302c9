import path from 'node:path';

/** Largest new file that is committed. */
export const largestNewFileBytes = 10 * 1024 * 1024;

/** A file that is new against base, as lstat shows it. */
export interface NewFile {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'repository';
  readonly sizeBytes: number;
  /** Target of a link, else ''. */
  readonly target: string;
}

/** `work`: leaving it out could lose somebody's work, so the workspace is held for it. */
export interface Reason {
  readonly path: string;
  readonly why: string;
  readonly kind: 'packages' | 'secret' | 'repository' | 'outside-link' | 'large' | 'submodule' | 'untakeable';
  readonly work: boolean;
}

const pointsOutside = (file: NewFile): boolean => {
  if (path.posix.isAbsolute(file.target) || path.win32.isAbsolute(file.target)) return true;
  const reached = path.posix.normalize(path.posix.join(path.posix.dirname(file.path), file.target));
  return reached === '..' || reached.startsWith('../');
};

/**
 * Whether a new file is never committed, and why. What base tracks is not asked here: that is the user's decision already.
 * `path` of the answer is what is named to the reader: of `node_modules` the folder, not its thousands of files.
 */
export const leaveOut = (file: NewFile): Reason | undefined => {
  const parts = file.path.replace(/\/$/, '').split('/');
  const modules = parts.indexOf('node_modules');
  if (modules !== -1)
    return { path: parts.slice(0, modules + 1).join('/'), why: 'installed packages are not committed', kind: 'packages', work: false };
  const secret = parts.find((part) => part.startsWith('.env') && part !== '.env.example');
  if (secret !== undefined) return { path: file.path, why: `${secret} may hold secrets`, kind: 'secret', work: true };
  if (file.kind === 'repository') return { path: file.path, why: 'it is a git repository of its own', kind: 'repository', work: true };
  if (file.kind === 'link' && pointsOutside(file)) {
    return { path: file.path, why: `the link points outside of the workspace, to ${file.target}`, kind: 'outside-link', work: false };
  }
  if (file.kind === 'file' && file.sizeBytes > largestNewFileBytes) {
    const megabytes = (file.sizeBytes / 1024 / 1024).toFixed(1);
    return {
      path: file.path,
      why: `${megabytes} MB is more than the ${largestNewFileBytes / 1024 / 1024} MB a new file may have`,
      kind: 'large',
      work: true,
    };
  }
  return undefined;
};
