import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
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

test('SRV-03 a launchd property list is well-formed XML with every value escaped', () => {
  const plist = launchdPlist(request);
  const read = execFileSync('python3', ['-c', 'import sys,plistlib,json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'], {
    input: plist,
    encoding: 'utf8',
  });
  expect(JSON.parse(read)).toMatchObject({
    Label: 'gyre-sample',
    ProgramArguments: request.argv,
    WorkingDirectory: request.workingDirectory,
    EnvironmentVariables: request.env,
    AbandonProcessGroup: true,
    ExitTimeOut: 631,
  });
});
