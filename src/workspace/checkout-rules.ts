import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Repository } from './port.ts';
import { settingOf, type Setting } from './settings.ts';

/** Settings that decide which bytes, names and permissions a checkout writes. */
const deciding =
  /^(?:core\.(?:autocrlf|eol|safecrlf|symlinks|filemode|ignorecase|longpaths|protectntfs|precomposeunicode|attributesfile)|filter\..+|lfs\..+)$/i;

/**
 * One hash of everything besides the commit that decides what a checkout writes: two checkouts of one commit under one hash are the same.
 * Undefined where a folder cannot be used again: a sparse checkout or submodules.
 */
export const checkoutRules = async (repository: Repository, settings: readonly Setting[]): Promise<string | undefined> => {
  if (/^(?:true|yes|on|1)$/i.test(settingOf(settings, 'core.sparsecheckout') ?? 'false')) return undefined;
  const rules = settings.filter(({ key }) => deciding.test(key)).map(({ key, value }) => `${key}=${value ?? ''}`);
  const home = process.env['XDG_CONFIG_HOME'] ?? path.join(os.homedir(), '.config');
  const named = settingOf(settings, 'core.attributesfile')?.replace(/^~(?=\/)/, os.homedir());
  const files = [
    path.join(repository.commonDir, 'info', 'attributes'),
    named ?? path.join(home, 'git', 'attributes'),
    '/etc/gitattributes',
  ];
  const attributes = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return createHash('sha256')
    .update(JSON.stringify([rules, attributes, process.umask()]))
    .digest('hex');
};
