import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { exitCodes } from '../../src/core/exit.ts';
import { launchdPlist, systemdUnit } from '../../src/server/index.ts';

const request = {
  name: 'gyre-sample',
  description: 'Gyre for 100% of /srv/my repo',
  argv: ['/opt/node', '/srv/a "b" $c/main.js', 'up', '--foreground'],
  workingDirectory: '/srv/my repo é',
  env: { XDG_STATE_HOME: '/srv/sta&te', PATH: '/usr/bin:/bin' },
  stopMs: 630_500,
  logFile: '/srv/log',
};

test('SRV-01 a systemd unit quotes every word, takes % and $ literally, and leaves agents to the next engine', () => {
  const unit = systemdUnit(request, 'user');
  expect(unit).toContain('Description=Gyre for 100%% of /srv/my repo\n');
  expect(unit).toContain('ExecStart="/opt/node" "/srv/a \\"b\\" $$c/main.js" "up" "--foreground"\n');
  expect(unit).toContain('WorkingDirectory=/srv/my repo é\n');
  expect(unit).toContain('Environment="XDG_STATE_HOME=/srv/sta&te"\n');
  expect(unit).toContain('KillMode=process\n');
  expect(unit).toContain('TimeoutStopSec=631\n');
  expect(unit).toContain('WantedBy=default.target\n');
  expect(systemdUnit(request, 'system')).toContain('WantedBy=multi-user.target\n');
});

test('SRV-02 a configuration that is refused makes no restart storm', () => {
  expect(systemdUnit(request, 'user')).toMatch(/RestartPreventExitStatus=2 5\n/);
  expect(systemdUnit(request, 'user')).toMatch(/StartLimitBurst=5\n/);
});

test('SRV-24 a daemon that had to stop at work is started again by systemd, one that was refused at its start is not', () => {
  const unit = systemdUnit(request, 'user');
  const prevented = /^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]?.split(' ').map(Number);
  expect(unit).toContain('Restart=on-failure\n');
  expect(prevented).toEqual([exitCodes.usage, exitCodes.fault]);
  expect(prevented).not.toContain(exitCodes.daemonStopped);
});

/** What launchd starts, with a shell script in the place of the daemon. */
const launched = (script: string): readonly [string, readonly string[]] => {
  const text = launchdPlist({ ...request, argv: ['/bin/sh', '-c', script] });
  const read = execFileSync('python3', ['-c', 'import sys,plistlib,json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'], {
    input: text,
    encoding: 'utf8',
  });
  const [program = '', ...args] = (JSON.parse(read) as { readonly ProgramArguments: readonly string[] }).ProgramArguments;
  return [program, args];
};

test('SRV-25 launchd, which starts again after every exit but 0, sees 0 for a refusal and the code of every other end', () => {
  const seen = [0, 2, 3, 5, 6].map((code) => spawnSync(...launched(`exit ${code}`)).status);
  expect(seen).toEqual([0, 0, 3, 0, 6]);
});

test('SRV-26 what launchd ends is told to the daemon, and its end is waited for', async () => {
  const [program, args] = launched('trap "sleep 0.3; echo ended; exit 7" TERM; echo ready; while :; do sleep 0.05; done');
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'close')) as [number | null];
  expect([said, code]).toEqual(['ready\nended\n', 7]);
});

test('SRV-03 a launchd property list is well-formed XML with every value escaped', () => {
  const plist = launchdPlist(request);
  const read = execFileSync('python3', ['-c', 'import sys,plistlib,json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'], {
    input: plist,
    encoding: 'utf8',
  });
  expect(JSON.parse(read)).toMatchObject({
    Label: 'gyre-sample',
    ProgramArguments: ['/bin/sh', '-c', expect.any(String), request.name, ...request.argv],
    WorkingDirectory: request.workingDirectory,
    EnvironmentVariables: request.env,
    AbandonProcessGroup: true,
    ExitTimeOut: 631,
  });
});
