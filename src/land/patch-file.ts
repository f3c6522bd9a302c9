import { mkdir, open, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Git } from '../workspace/index.ts';

// The user's settings for mail (attachments, prefixes, signatures) would make a file that `git apply` cannot read.
const plain = [
  '--stdout',
  '--binary',
  '--full-index',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--subject-prefix=PATCH',
  '--no-numbered',
  '--no-cover-letter',
  '--no-thread',
  '--no-attach',
  '--no-signature',
  '--no-notes',
  '--no-base',
  '--no-add-header',
  '--no-to',
  '--no-cc',
];

/** Writes one commit as a mail that `git am` and `git apply` accept, binary files included. Whole or not at all: sync, then rename. */
export const writePatch = async (git: Git, commit: string, file: string): Promise<void> => {
  const { bytes } = await git.run(['format-patch', ...plain, '-1', commit, '--']);
  await mkdir(path.dirname(file), { recursive: true });
  const handle = await open(`${file}.new`, 'w');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
};
