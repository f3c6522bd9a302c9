// How the environment of a program travels from the engine to the shim: as the shim's own environment, in memory, under a prefix.
// Without the prefix a NODE_OPTIONS or LD_PRELOAD meant for the program would change the shim, and its GYRE_MARK would make the shim
// a member of the tree that it has to end.
import { markName } from './process-table.ts';

const prefix = 'GYRE_SHIM_ENV_';
/** Only a shim has it. */
export const launchName = 'GYRE_SHIM_LAUNCH';

/**
 * @param options.outerMark the marker that the engine itself runs under, if Gyre was started by a program of Gyre: the shim carries it
 *   on, so that the outer one can end the inner one's trees too
 */
export const packEnv = (options: {
  readonly env: Readonly<Record<string, string>>;
  readonly launch: string;
  readonly outerMark: string | undefined;
  /** Where Node keeps the compiled shim. */
  readonly cacheDir: string | undefined;
}): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(options.env).map(([name, value]) => [prefix + name, value])),
  [launchName]: options.launch,
  ...(options.cacheDir === undefined ? {} : { NODE_COMPILE_CACHE: options.cacheDir }),
  ...(options.outerMark === undefined ? {} : { [markName]: options.outerMark }),
});

/** @returns the environment for the program, exactly the names asked for and the mark, and the name of the launch. */
export const unpackEnv = (
  env: Readonly<Record<string, string | undefined>>,
  wanted: { readonly envNames: readonly string[]; readonly marker: string },
): Record<string, string> => ({
  ...Object.fromEntries(wanted.envNames.map((name) => [name, env[prefix + name] ?? ''])),
  [markName]: wanted.marker,
});

export const launchOf = (env: Readonly<Record<string, string | undefined>>): string => env[launchName] ?? '';
