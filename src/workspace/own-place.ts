import { readFile, readlink, stat } from 'node:fs/promises';
import { Defect } from '../core/fault.ts';

/** Larger files are data and libraries, not scripts or settings. */
const bytesLooked = 16 * 1024 * 1024;

/**
 * A look that refuses files which name the place they were made in (the scripts of a Python environment, an editable install, a build
 * folder): a copy elsewhere would use the original.
 * @param dir absolute path of the checkout
 */
export const refuseOwnPlace =
  (dir: string) =>
  async ({ file, kind }: { readonly file: string; readonly kind: 'file' | 'link' }): Promise<void> => {
    const refuse = (): never => {
      throw new Defect(`${file} names the checkout it was made in, so a copy elsewhere would not stand on its own.`);
    };
    if (kind === 'link') {
      if ((await readlink(file)).startsWith(dir)) refuse();
      return;
    }
    if ((await stat(file)).size <= bytesLooked && (await readFile(file)).includes(dir)) refuse();
  };
