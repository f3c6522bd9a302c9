// The texts that make the system start Gyre: a systemd unit (systemd.unit(5), systemd.service(5)) and a launchd property list
// (launchd.plist(5)). Pure; writing them is the command line's.

export interface ServiceRequest {
  /** Letters, digits and dashes. */
  readonly name: string;
  readonly description: string;
  /** The program and its arguments, absolute paths. */
  readonly argv: readonly string[];
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  /** How long the engine may take to drain before the system ends it. */
  readonly stopMs: number;
  /** For launchd, which keeps no journal of its own. */
  readonly logFile: string;
}

/** One word of a systemd line: quoted, with the specifiers (%) and variables ($) of systemd taken literally. */
const systemdWord = (text: string): string =>
  `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('$', () => '$$')
    .replaceAll('\n', '\\n')}"`;

/** A path on a line that takes no quotes: only specifiers are special there. */
const systemdPath = (text: string): string => text.replaceAll('%', '%%');

/**
 * KillMode=process: agents outlive their engine on purpose, so that the next one adopts them; what has to end, the engine ends itself.
 * A refusal to start (exit code 2: configuration, 5: held by another, not writable) is not cured by starting again. A fault while it was at
 * work (6) is, since the next start settles what is left or is refused. No fault may become a restart storm.
 */
export const systemdUnit = (request: ServiceRequest, level: 'user' | 'system'): string =>
  [
    '[Unit]',
    `Description=${systemdPath(request.description)}`,
    'StartLimitIntervalSec=300',
    'StartLimitBurst=5',
    '',
    '[Service]',
    'Type=exec',
    `WorkingDirectory=${systemdPath(request.workingDirectory)}`,
    ...Object.entries(request.env).map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}`),
    `ExecStart=${request.argv.map(systemdWord).join(' ')}`,
    'KillMode=process',
    `TimeoutStopSec=${Math.ceil(request.stopMs / 1_000)}`,
    'Restart=on-failure',
    'RestartSec=10',
    'RestartPreventExitStatus=2 5',
    '',
    '[Install]',
    `WantedBy=${level === 'user' ? 'default.target' : 'multi-user.target'}`,
    '',
  ].join('\n');

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const strings = (values: readonly string[], indent: string): string =>
  values.map((value) => `${indent}<string>${xml(value)}</string>`).join('\n');

/**
 * launchd starts again after every exit but 0, so a refusal to start has to look like one. A signal is handed on, and waited for again,
 * because it ends the shell's own waiting; a child that ended by a signal ends the shell with a code above 128.
 */
const refusalsAreFinal = [
  '"$@" & child=$!',
  "trap 'kill -TERM $child' TERM INT HUP",
  'wait $child; code=$?',
  'while kill -0 $child 2>/dev/null; do wait $child; code=$?; done',
  'case $code in 2|5) exit 0;; *) exit $code;; esac',
].join('\n');

/** AbandonProcessGroup is launchd's word for what KillMode=process is to systemd. */
export const launchdPlist = (request: ServiceRequest): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xml(request.name)}</string>
  <key>ProgramArguments</key>
  <array>
${strings(['/bin/sh', '-c', refusalsAreFinal, request.name, ...request.argv], '    ')}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(request.workingDirectory)}</string>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(request.env)
  .map(([name, value]) => `    <key>${xml(name)}</key>\n    <string>${xml(value)}</string>`)
  .join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>60</integer>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ExitTimeOut</key>
  <integer>${Math.ceil(request.stopMs / 1_000)}</integer>
  <key>StandardErrorPath</key>
  <string>${xml(request.logFile)}</string>
</dict>
</plist>
`;
