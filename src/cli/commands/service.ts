import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Rejection } from '../../core/fault.ts';
import { slug } from '../../core/text.ts';
import { launchdPlist, systemdUnit, type ServiceRequest } from '../../server/index.ts';
import { entryArgv } from '../entries.ts';
import { loadLoops } from '../load-loops.ts';
import { configOf, settingsAt } from '../loop-choice.ts';
import { findPlace, type Place, stateRoot } from '../place.ts';
import { line, printJson } from '../print.ts';

export interface ServiceOptions {
  readonly system?: boolean;
  readonly print?: boolean;
  readonly json?: boolean;
}

interface ServiceFile {
  readonly file: string;
  readonly text: string;
  /** Commands that make the system take notice, for a person to run. */
  readonly start: readonly string[];
  readonly stop: readonly string[];
}

/** Beyond the drain time: ending agents in order, closing files. */
const closingMs = 60_000;

/** What the daemon needs of this environment: the system starts services with next to nothing. Secrets are not among it. */
const environmentOf = (env: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['PATH', 'LANG', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'].flatMap((name) => {
      const value = env[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );

const requestOf = (place: Place, drainMs: number): ServiceRequest => ({
  name: `gyre-${slug(path.basename(place.repository.root), 32)}-${path.basename(place.stateHome).slice(-8)}`,
  description: `Gyre for ${place.repository.root}`,
  argv: [...entryArgv('main'), 'up', '--foreground'],
  workingDirectory: place.cwd,
  env: { ...environmentOf(process.env), XDG_STATE_HOME: path.dirname(stateRoot(process.env)) },
  stopMs: drainMs + closingMs,
  logFile: path.join(place.stateHome, 'logs', 'service.txt'),
});

/** Where this system keeps service files, and what they are called there. */
const serviceFile = async (place: Place, system: boolean): Promise<ServiceFile> => {
  const request = requestOf(place, (await settingsAt(place)).server.drainMs);
  if (process.platform === 'darwin') {
    const folder = system ? '/Library/LaunchDaemons' : path.join(os.homedir(), 'Library', 'LaunchAgents');
    const file = path.join(folder, `${request.name}.plist`);
    const domain = system ? 'system' : `gui/${process.getuid?.() ?? 0}`;
    return {
      file,
      text: launchdPlist(request),
      start: [`launchctl bootstrap ${domain} '${file}'`],
      stop: [`launchctl bootout ${domain}/${request.name}`],
    };
  }
  if (process.platform !== 'linux')
    throw new Rejection(`Services are known for systemd (Linux) and launchd (macOS); this system is ${process.platform}.`, {
      hint: 'Let its own scheduler start: gyre up --foreground',
    });
  const config = process.env['XDG_CONFIG_HOME'];
  const home = config !== undefined && path.isAbsolute(config) ? config : path.join(os.homedir(), '.config');
  const folder = system ? '/etc/systemd/system' : path.join(home, 'systemd', 'user');
  const user = system ? '' : ' --user';
  return {
    file: path.join(folder, `${request.name}.service`),
    text: systemdUnit(request, system ? 'system' : 'user'),
    start: [
      `systemctl${user} daemon-reload`,
      `systemctl${user} enable --now ${request.name}`,
      ...(system ? [] : ['loginctl enable-linger']),
    ],
    stop: [`systemctl${user} disable --now ${request.name}`],
  };
};

/** Writes the file that lets the system start the daemon; starting it is left to the person, with the commands told. */
export const installService = async (options: ServiceOptions): Promise<void> => {
  const place = await findPlace();
  await loadLoops(configOf(place));
  const service = await serviceFile(place, options.system === true);
  if (options.print === true) {
    process.stdout.write(service.text);
    return;
  }
  mkdirSync(path.dirname(service.file), { recursive: true });
  writeFileSync(service.file, service.text, { mode: 0o644 });
  if (options.json === true) return printJson({ file: service.file, start: service.start, stop: service.stop });
  line(`Written: ${service.file}`);
  line('Start it with:');
  for (const command of service.start) line(`  ${command}`);
  line('Secrets such as API keys are not written there: give them to the service in the way of your system.');
};

export const removeService = async (options: ServiceOptions): Promise<void> => {
  const place = await findPlace();
  const service = await serviceFile(place, options.system === true);
  rmSync(service.file, { force: true });
  if (options.json === true) return printJson({ file: service.file, removed: true, stop: service.stop });
  line(`Removed: ${service.file}`);
  line('If it runs, end it with:');
  for (const command of service.stop) line(`  ${command}`);
};
