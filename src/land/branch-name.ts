import { slug } from '../core/text.ts';

const loopLetters = 24;
const titleLetters = 48;
const numbersTried = 9_999;

/**
 * A branch name for a landing: `gyre/<loop>/<title>`, only `a-z 0-9 - /`, at most 82 bytes, different from every name taken also when
 * case is ignored (file systems do), and neither a folder of one nor inside of one (git stores refs as files). Pure.
 * @param wanted.taken short names of branches, local, remote-tracking without their remote, and checked out ones
 */
export const branchName = (wanted: { readonly loop: string; readonly title: string; readonly taken: readonly string[] }): string => {
  const taken = new Set(wanted.taken.map((name) => name.toLowerCase()));
  const folders = new Set([...taken].flatMap((name) => parentsOf(name)));
  const free = (name: string): boolean => !taken.has(name) && !folders.has(name) && !parentsOf(name).some((parent) => taken.has(parent));
  const loop = slug(wanted.loop, loopLetters);
  const title = slug(wanted.title, titleLetters);
  // A branch called `gyre` or `gyre/<loop>` leaves no room below it.
  const shapes = [`gyre/${loop}/${title}`, `gyre/${loop}-${title}`, `gyre-${loop}-${title}`];
  for (const shape of shapes) {
    if (parentsOf(shape).some((parent) => taken.has(parent))) continue;
    for (let number = 1; number <= numbersTried; number += 1) {
      const name = number === 1 ? shape : `${shape}-${number}`;
      if (free(name)) return name;
    }
  }
  throw new RangeError(`No free branch name for ${JSON.stringify(wanted.title)} among ${wanted.taken.length}.`);
};

/** `a/b/c` -> `a`, `a/b`. */
const parentsOf = (name: string): string[] => {
  const parts = name.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
};
