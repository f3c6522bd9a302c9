import type { ConfigSource, LoadedLoop } from '../config/index.ts';
import { type Issue, Rejection } from '../core/fault.ts';

/**
 * Every loop of a configuration, sorted by name.
 * @throws Rejection with the issues of all files that cannot be read as loops
 */
export const loadLoops = async (source: ConfigSource): Promise<readonly LoadedLoop[]> => {
  const loaded: LoadedLoop[] = [];
  const sentences: string[] = [];
  const issues: Issue[] = [];
  for (const name of await source.names()) {
    try {
      loaded.push(await source.load(name));
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      sentences.push(error.message);
      issues.push(...error.issues);
    }
  }
  if (sentences.length > 0) throw new Rejection([...new Set(sentences)].join(' '), { issues });
  return loaded;
};
